#include "agent/transfer/placing.hpp"

#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/files/safe_flags.hpp"
#include "adapters/files/temporary.hpp"
#include "domain/pulled_line.hpp"

namespace muster::agent {
namespace {

constexpr std::size_t kCopyBytes = 256 << 10;

std::string ParentOf(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Result<> Dress(int fd, const std::string& path, const Looks& looks) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) return Fail(WriteError("look at", path, errno));
  const bool owned = status.st_uid == looks.owner.uid && status.st_gid == looks.owner.gid;
  // The owner first: a change of it takes special bits away.
  if (!owned && ::fchown(fd, looks.owner.uid, looks.owner.gid) != 0)
    return Fail(WriteError(fmt::format("give to {}:{} the file", looks.owner.uid, looks.owner.gid),
                           path, errno));
  if ((status.st_mode & 07777) == looks.mode && owned) return {};
  if (::fchmod(fd, looks.mode) != 0) return Fail(WriteError("set the mode of", path, errno));
  return {};
}

// Whether mode and owner of a file that is there may be changed. Not when it has a second name:
// that may be a hard link which another user made to a file of root. And not when another user owns
// it, who may have it open for writing, if that would give it to a third one or set a special bit.
bool MayDress(const struct stat& status, const Looks& looks, const Account& account) {
  const bool owned = status.st_uid == looks.owner.uid && status.st_gid == looks.owner.gid;
  if (owned && (status.st_mode & 07777) == looks.mode) return true;
  if (status.st_nlink != 1) return false;
  return status.st_uid == account.uid || (owned && (looks.mode & (S_ISUID | S_ISGID)) == 0);
}

Result<> SyncFolder(int folder, const std::string& path) {
  const Fd fd(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A folder one may write to but not read cannot be synced.
  if (!fd) return {};
  if (::fsync(fd.Get()) != 0) return Fail(WriteError("sync", path, errno));
  return {};
}

// Whether the folder is the one just made, and not one that the owner of its parent put there
// since: that one may hold what is not to be given away.
bool IsJustMade(const Fd& folder) {
  struct stat status{};
  if (!folder || ::fstat(folder.Get(), &status) != 0 || status.st_uid != ::geteuid()) return false;
  const auto names = NamesIn(folder.Get(), "");
  return names && names->empty();
}

Result<> Copy(int from, int to, const std::string& path) {
  if (::lseek(from, 0, SEEK_SET) < 0) return Fail(WriteError("read", path, errno));
  for (;;) {
    const ssize_t got = ::copy_file_range(from, nullptr, to, nullptr, 1 << 30, 0);
    if (got == 0) return {};
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EIO))
      return Fail(WriteError("write", path, errno));
    if (got < 0) break;  // not between these two file systems
  }
  const auto buffer = std::make_unique_for_overwrite<char[]>(kCopyBytes);
  for (;;) {
    const ssize_t got = ::read(from, buffer.get(), kCopyBytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Fail(WriteError("read", path, errno));
    if (got == 0) return {};
    if (const int error = WriteAll(to, {buffer.get(), static_cast<std::size_t>(got)}))
      return Fail(WriteError("write", path, error));
  }
}

// Whether something is there that a file may take the place of.
Result<bool> Look(int folder, const std::string& name, const std::string& path) {
  struct stat status{};
  if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return false;
    return Fail(WriteError("look at", path, errno));
  }
  if (S_ISDIR(status.st_mode))
    return Fail(ErrorCode::kInvalid,
                "{0} is a folder on this host; write {0}/ to put the file into it",
                EscapePath(path));
  if (S_ISREG(status.st_mode) || S_ISLNK(status.st_mode)) return true;
  return Fail(ErrorCode::kInvalid, "{} is neither a file nor a folder", EscapePath(path));
}

}  // namespace

std::string_view Name(Placed placed) noexcept {
  switch (placed) {
    case Placed::kNew:
      return "new";
    case Placed::kReplaced:
      return "replaced";
    case Placed::kUnchanged:
      return "unchanged";
  }
  return "";
}

std::string Placing::PathOf(const std::string& below) const {
  if (below.empty()) return base_;
  return base_ == "/" ? base_ + below : base_ + "/" + below;
}

// The folder that holds `below`.
Result<Fd> Placing::FolderOf(const std::string& below) {
  if (below.empty()) return walk_.Folder(ParentOf(base_));
  if (!root_) {
    auto root = walk_.Folder(base_);
    if (!root) return root;
    root_ = std::move(*root);
  }
  const auto slash = below.rfind('/');
  return walk_.Below(root_.Get(), slash == std::string::npos ? "" : below.substr(0, slash));
}

Result<Placing::Spot> Placing::Find(const std::string& below) {
  const std::string path = PathOf(below);
  auto folder = FolderOf(below);
  if (folder) return Spot{std::move(*folder), path == "/" ? "." : NameOf(path), path};
  const Error& error = folder.error();
  if (error.code == ErrorCode::kNotFound)
    return Fail(ErrorCode::kInvalid, "folder {} does not exist on this host",
                EscapePath(ParentOf(path)));
  if (error.code == ErrorCode::kDenied && !below.empty() && root_)
    return Fail(ErrorCode::kDenied,
                "a symbolic link is on the way from {} to {}; links below the destination are not "
                "followed",
                EscapePath(base_), EscapePath(path));
  return Fail(error.code, "write {}: {}", EscapePath(path), error.message);
}

Result<bool> Placing::IsThere(const std::string& below, const std::string& sha256,
                              std::uint64_t size, const Looks& looks) {
  const ActAs rights(account_);
  const auto spot = Find(below);
  if (!spot) return Fail(spot.error());
  const auto there = Look(spot->folder.Get(), spot->name, spot->path);
  if (!there || !*there) return there;
  const Fd file(::openat(spot->folder.Get(), spot->name.c_str(),
                         files::SafeFlags(O_RDONLY | O_NOFOLLOW | O_NONBLOCK)));
  struct stat status{};
  if (!file || ::fstat(file.Get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  if (static_cast<std::uint64_t>(status.st_size) != size) return false;
  const auto hash = HashOf(file.Get(), size, spot->path);
  if (!hash || *hash != sha256) return false;
  if (!MayDress(status, looks, account_)) return false;
  if (auto dressed = Dress(file.Get(), spot->path, looks); !dressed) return Fail(dressed.error());
  return true;
}

template <typename Fill>
Result<Placed> Placing::ByTemporary(const Spot& spot, const Looks& looks, Fill fill) const {
  const std::string& path = spot.path;
  const auto there = Look(spot.folder.Get(), spot.name, path);
  if (!there) return Fail(there.error());
  auto temporary = files::Temporary::Make(spot.folder.Get(), spot.name);
  if (!temporary) return Fail(WriteError("write", path, errno));
  const int fd = temporary->Get();
  if (auto filled = fill(fd); !filled) return Fail(filled.error());
  if (auto dressed = Dress(fd, path, looks); !dressed) return Fail(dressed.error());
  if (::fsync(fd) != 0) return Fail(WriteError("sync", path, errno));
  if (!temporary->Become(spot.name)) return Fail(WriteError("replace", path, errno));
  if (auto synced = SyncFolder(spot.folder.Get(), path); !synced) return Fail(synced.error());
  return *there ? Placed::kReplaced : Placed::kNew;
}

Result<Placed> Placing::Put(const std::string& below, const PartFile& part, const Looks& looks) {
  const ActAs rights(account_);
  const auto spot = Find(below);
  if (!spot) return Fail(spot.error());
  const std::string& path = spot->path;
  if (!account_.switch_to) {
    const auto there = Look(spot->folder.Get(), spot->name, path);
    if (!there) return Fail(there.error());
    if (auto dressed = Dress(part.Get(), path, looks); !dressed) return Fail(dressed.error());
    if (::fsync(part.Get()) != 0) return Fail(WriteError("sync", part.Path(), errno));
    if (::renameat(AT_FDCWD, part.Path().c_str(), spot->folder.Get(), spot->name.c_str()) == 0) {
      if (auto synced = SyncFolder(spot->folder.Get(), path); !synced) return Fail(synced.error());
      return *there ? Placed::kReplaced : Placed::kNew;
    }
    if (errno != EXDEV) return Fail(WriteError("write", path, errno));
  }
  return ByTemporary(*spot, looks, [&](int fd) { return Copy(part.Get(), fd, path); });
}

Result<Placed> Placing::Write(const std::string& below, std::string_view content,
                              const Looks& looks) {
  const ActAs rights(account_);
  const auto spot = Find(below);
  if (!spot) return Fail(spot.error());
  return ByTemporary(*spot, looks, [&](int fd) -> Result<> {
    if (const int error = WriteAll(fd, content))
      return Fail(WriteError("write", spot->path, error));
    return {};
  });
}

Result<Placed> Placing::KeepFolder(const std::string& below, const Spot& spot) {
  if (below.empty()) {
    auto root = walk_.Folder(base_);
    if (root) {
      root_ = std::move(*root);
      return Placed::kUnchanged;
    }
    if (root.error().code == ErrorCode::kDenied) return Fail(root.error());
  } else {
    struct stat status{};
    const bool there =
        ::fstatat(spot.folder.Get(), spot.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (there && S_ISDIR(status.st_mode)) return Placed::kUnchanged;
    if (there && S_ISLNK(status.st_mode))
      return Fail(ErrorCode::kDenied,
                  "{} is a symbolic link; links below the destination are not followed",
                  EscapePath(spot.path));
  }
  return Fail(ErrorCode::kInvalid, "{} is there and is not a folder", EscapePath(spot.path));
}

Result<Placed> Placing::MakeFolder(const std::string& below, const Looks& looks) {
  const ActAs rights(account_);
  const auto spot = Find(below);
  if (!spot) return Fail(spot.error());
  const std::string& path = spot->path;
  if (::mkdirat(spot->folder.Get(), spot->name.c_str(), 0700) != 0) {
    if (errno == EEXIST) return KeepFolder(below, *spot);
    return Fail(WriteError("create folder", path, errno));
  }
  Fd folder(::openat(spot->folder.Get(), spot->name.c_str(),
                     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!IsJustMade(folder))
    return Fail(ErrorCode::kDenied, "{} was replaced while it was made", EscapePath(path));
  if (auto dressed = Dress(folder.Get(), path, looks); !dressed) return Fail(dressed.error());
  if (below.empty()) root_ = std::move(folder);
  return Placed::kNew;
}

}  // namespace muster::agent
