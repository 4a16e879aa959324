#include "agent/transfer/path_walk.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <memory>
#include <optional>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.hpp"
#include "domain/pulled_line.hpp"

namespace muster::agent {
namespace {

constexpr int kMaxLinks = 40;  // as the kernel has it
constexpr int kFolderFlags = O_PATH | O_DIRECTORY;

std::unexpected<Error> WalkError(const std::string& path, int error) {
  const ErrorCode code = error == ENOENT    ? ErrorCode::kNotFound
                         : error == ENOTDIR ? ErrorCode::kInvalid
                         : error == ELOOP   ? ErrorCode::kDenied
                                            : ErrorCode::kUnavailable;
  return Fail(code, "{}: {}", EscapePath(path), ErrnoText(error));
}

// -1 and errno, as openat.
int OpenResolved(int folder, const std::string& path, int flags, std::uint64_t resolve) {
  struct open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = resolve;
  return static_cast<int>(::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how));
}

// Old seccomp profiles of containers answer EPERM to calls they do not know.
bool IsMissingCall(int error) { return error == ENOSYS || error == EPERM; }

// What `name` is in the open folder, itself when it is a link. As a folder first: otherwise the
// kernel would not mount what an automounter mounts on demand.
Fd OpenNext(int folder, const std::string& name) {
  const int fd = ::openat(folder, name.c_str(), kFolderFlags | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 || errno != ENOTDIR) return Fd(fd);
  return Fd(::openat(folder, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
}

// A walk from the root folder, one component at a time.
class Steps {
 public:
  Steps(const std::string& path, uid_t user) : path_(path), rest_(path), user_(user) {}

  Result<Fd> Run(int flags) {
    at_ = Fd(::open("/", kFolderFlags | O_CLOEXEC));
    while (TakeName()) {
      Fd next = OpenNext(at_.Get(), name_);
      struct stat status{};
      if (!next || ::fstat(next.Get(), &status) != 0) return WalkError(path_, errno);
      if (S_ISLNK(status.st_mode)) {
        if (auto followed = Follow(next, status.st_uid); !followed) return Fail(followed.error());
      } else if (AtEnd()) {
        return OpenLast(status, flags);
      } else if (S_ISDIR(status.st_mode)) {
        at_ = std::move(next);
      } else {
        return WalkError(path_, ENOTDIR);
      }
    }
    // Nothing follows the folder where we are: the path was "/", or ended in "/.".
    name_ = ".";
    struct stat status{};
    if (::fstat(at_.Get(), &status) != 0) return WalkError(path_, errno);
    return OpenLast(status, flags);
  }

 private:
  bool AtEnd() const { return rest_.find_first_not_of('/') == std::string::npos; }

  bool TakeName() {
    while (!AtEnd()) {
      rest_.erase(0, rest_.find_first_not_of('/'));
      name_ = rest_.substr(0, rest_.find('/'));
      rest_.erase(0, name_.size());
      if (name_ != ".") return true;
    }
    return false;
  }

  // Owner and target are those of one open link: the name may lead to another one by now.
  Result<> Follow(const Fd& link, uid_t owner) {
    if (++links_ > kMaxLinks) return WalkError(path_, ELOOP);
    if (owner != 0 && owner != user_) {
      if (third_user_ && *third_user_ != owner) return Distrust(*third_user_);
      third_user_ = owner;
    }
    std::string target(PATH_MAX, '\0');
    const ssize_t size = ::readlinkat(link.Get(), "", target.data(), target.size());
    if (size <= 0) return WalkError(path_, size < 0 ? errno : ENOENT);
    target.resize(static_cast<std::size_t>(size));
    if (target.starts_with('/')) at_ = Fd(::open("/", kFolderFlags | O_CLOEXEC));
    rest_ = target + "/" + rest_;
    return {};
  }

  // Opened by its name once more, as an O_PATH descriptor cannot be read from; `found` says what
  // that name led to when its owner was looked at.
  Result<Fd> OpenLast(const struct stat& found, int flags) {
    if (third_user_ && found.st_uid != *third_user_) return Distrust(*third_user_);
    Fd file(::openat(at_.Get(), name_.c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
    struct stat status{};
    if (!file || ::fstat(file.Get(), &status) != 0) return WalkError(path_, errno);
    if (status.st_dev != found.st_dev || status.st_ino != found.st_ino)
      return Fail(ErrorCode::kDenied, "{}: was replaced while it was opened", EscapePath(path_));
    return file;
  }

  std::unexpected<Error> Distrust(uid_t owner) const {
    return Fail(
        ErrorCode::kDenied,
        "{}: a symbolic link of another user (uid {}) is in this path, and leads to what is "
        "not that user's; it is not followed. Name the real path, or that user for the "
        "transfer",
        EscapePath(path_), owner);
  }

  const std::string& path_;
  std::string rest_;
  std::string name_;
  const uid_t user_;
  std::optional<uid_t> third_user_;
  int links_ = 0;
  Fd at_;
};

// As openat2 with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS; 0 or the errno.
int StepBelow(Fd& at, const std::string& path) {
  for (const auto name : Split(path, '/')) {
    Fd next = OpenNext(at.Get(), std::string(name));
    struct stat status{};
    if (!next || ::fstat(next.Get(), &status) != 0) return errno;
    if (!S_ISDIR(status.st_mode)) return S_ISLNK(status.st_mode) ? ELOOP : ENOTDIR;
    at = std::move(next);
  }
  return 0;
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

}  // namespace

Result<Fd> PathWalk::Open(const std::string& path, int flags) {
  if (way_ == Way::kKernel) {
    const int fd = OpenResolved(AT_FDCWD, path, flags, RESOLVE_NO_SYMLINKS);
    if (fd >= 0) return Fd(fd);
    if (IsMissingCall(errno))
      way_ = Way::kStepwise;
    else if (errno != ELOOP)
      return WalkError(path, errno);
  }
  return Steps(path, user_).Run(flags);
}

Result<Fd> PathWalk::Folder(const std::string& path) { return Open(path, kFolderFlags); }

Result<Fd> PathWalk::Below(int root, const std::string& path) {
  if (way_ == Way::kKernel && !path.empty()) {
    const int fd = OpenResolved(root, path, kFolderFlags, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    if (fd >= 0) return Fd(fd);
    if (!IsMissingCall(errno)) return WalkError(path, errno);
    way_ = Way::kStepwise;
  }
  Fd at(::openat(root, ".", kFolderFlags | O_CLOEXEC));
  if (!at) return WalkError(path, errno);
  if (path.empty()) return at;
  if (const int error = StepBelow(at, path)) return WalkError(path, error);
  return at;
}

Result<std::vector<std::string>> NamesIn(int folder, const std::string& path) {
  const int fd = ::fcntl(folder, F_DUPFD_CLOEXEC, 0);
  const std::unique_ptr<DIR, CloseFolder> open(fd < 0 ? nullptr : ::fdopendir(fd));
  if (!open) return WalkError(path, errno);
  ::rewinddir(open.get());  // both descriptors share one position
  std::vector<std::string> names;
  while (const dirent* item = ::readdir(open.get())) {
    const std::string_view name = item->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace muster::agent
