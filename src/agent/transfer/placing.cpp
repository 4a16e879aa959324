#include "agent/transfer/placing.hpp"

#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include "domain/pulled_line.hpp"

namespace muster::agent {
namespace {

constexpr std::size_t kCopyBytes = 256 << 10;

std::string FolderOf(const std::string& path) {
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

Result<> SyncFolder(const std::string& folder) {
  const auto fd = OpenFile(folder, O_RDONLY | O_DIRECTORY);
  // A folder one may write to but not read cannot be synced.
  if (!fd) return {};
  if (::fsync(fd->Get()) != 0) return Fail(WriteError("sync", folder, errno));
  return {};
}

// Takes a temporary file away again unless it was renamed.
class Temporary {
 public:
  static Result<Temporary> Make(const std::string& target) {
    std::string path = fmt::format("{}/.{}.muster-XXXXXX", FolderOf(target), NameOf(target));
    const int fd = ::mkostemp(path.data(), O_CLOEXEC);
    if (fd < 0 && errno == ENAMETOOLONG) {
      path = FolderOf(target) + "/.muster-XXXXXX";
      return Taken(::mkostemp(path.data(), O_CLOEXEC), path, target);
    }
    return Taken(fd, path, target);
  }
  Temporary(Temporary&& other) noexcept
      : file(std::move(other.file)), path(std::exchange(other.path, {})) {}
  Temporary& operator=(Temporary&&) = delete;
  ~Temporary() {
    if (!path.empty()) ::unlink(path.c_str());
  }
  Result<> Become(const std::string& target) {
    if (::rename(path.c_str(), target.c_str()) != 0)
      return Fail(WriteError("replace", target, errno));
    path.clear();
    return {};
  }

  Fd file;
  std::string path;

 private:
  Temporary(Fd fd, std::string at) : file(std::move(fd)), path(std::move(at)) {}
  static Result<Temporary> Taken(int fd, const std::string& path, const std::string& target) {
    if (fd < 0) return Fail(WriteError("write", target, errno));
    return Temporary(Fd(fd), path);
  }
};

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

// Whether something is there that a file may take the place of.
Result<bool> Placing::Look(const std::string& path) const {
  struct stat status{};
  if (::lstat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode))
      return Fail(ErrorCode::kInvalid,
                  "{0} is a folder on this host; write {0}/ to put the file into it",
                  EscapePath(path));
    if (S_ISREG(status.st_mode) || S_ISLNK(status.st_mode)) return true;
    return Fail(ErrorCode::kInvalid, "{} is neither a file nor a folder", EscapePath(path));
  }
  if (errno == ENOENT) {
    if (::access(FolderOf(path).c_str(), F_OK) == 0) return false;
    return Fail(ErrorCode::kInvalid, "folder {} does not exist on this host",
                EscapePath(FolderOf(path)));
  }
  return Fail(WriteError("look at", path, errno));
}

Result<bool> Placing::IsThere(const std::string& path, const std::string& sha256,
                              std::uint64_t size, const Looks& looks) const {
  const ActAs rights(account_);
  const auto there = Look(path);
  if (!there || !*there) return there;
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status{};
  if (!file || ::fstat(file.Get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  if (static_cast<std::uint64_t>(status.st_size) != size) return false;
  const auto hash = HashOf(file.Get(), size, path);
  if (!hash || *hash != sha256) return false;
  if (auto dressed = Dress(file.Get(), path, looks); !dressed) return Fail(dressed.error());
  return true;
}

template <typename Fill>
Result<Placed> Placing::ByTemporary(const std::string& path, const Looks& looks, Fill fill) const {
  const auto there = Look(path);
  if (!there) return Fail(there.error());
  auto temporary = Temporary::Make(path);
  if (!temporary) return Fail(temporary.error());
  const int fd = temporary->file.Get();
  if (auto filled = fill(fd); !filled) return Fail(filled.error());
  if (auto dressed = Dress(fd, path, looks); !dressed) return Fail(dressed.error());
  if (::fsync(fd) != 0) return Fail(WriteError("sync", path, errno));
  if (auto became = temporary->Become(path); !became) return Fail(became.error());
  if (auto synced = SyncFolder(FolderOf(path)); !synced) return Fail(synced.error());
  return *there ? Placed::kReplaced : Placed::kNew;
}

Result<Placed> Placing::Put(const std::string& path, const PartFile& part,
                            const Looks& looks) const {
  if (!account_.switch_to) {
    const auto there = Look(path);
    if (!there) return Fail(there.error());
    if (auto dressed = Dress(part.Get(), path, looks); !dressed) return Fail(dressed.error());
    if (::fsync(part.Get()) != 0) return Fail(WriteError("sync", part.Path(), errno));
    if (::rename(part.Path().c_str(), path.c_str()) == 0) {
      if (auto synced = SyncFolder(FolderOf(path)); !synced) return Fail(synced.error());
      return *there ? Placed::kReplaced : Placed::kNew;
    }
    if (errno != EXDEV) return Fail(WriteError("write", path, errno));
  }
  const ActAs rights(account_);
  return ByTemporary(path, looks, [&](int fd) { return Copy(part.Get(), fd, path); });
}

Result<Placed> Placing::Write(const std::string& path, std::string_view content,
                              const Looks& looks) const {
  const ActAs rights(account_);
  return ByTemporary(path, looks, [&](int fd) -> Result<> {
    if (const int error = WriteAll(fd, content)) return Fail(WriteError("write", path, error));
    return {};
  });
}

Result<Placed> Placing::MakeFolder(const std::string& path, const Looks& looks) const {
  const ActAs rights(account_);
  const bool made = ::mkdir(path.c_str(), 0700) == 0;
  if (!made && errno == ENOENT)
    return Fail(ErrorCode::kInvalid, "folder {} does not exist on this host",
                EscapePath(FolderOf(path)));
  if (!made && errno != EEXIST) return Fail(WriteError("create folder", path, errno));
  if (!made) {
    struct stat status{};
    if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return Placed::kUnchanged;
    return Fail(ErrorCode::kInvalid, "{} is there and is not a folder", EscapePath(path));
  }
  const auto folder = OpenFile(path, O_RDONLY | O_DIRECTORY);
  if (!folder) return Fail(folder.error());
  if (auto dressed = Dress(folder->Get(), path, looks); !dressed) return Fail(dressed.error());
  return Placed::kNew;
}

}  // namespace muster::agent
