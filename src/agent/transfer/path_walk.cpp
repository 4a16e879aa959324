#include "agent/transfer/path_walk.hpp"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <memory>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "adapters/files/beneath.hpp"
#include "adapters/files/owner.hpp"
#include "adapters/files/safe_flags.hpp"
#include "adapters/files/trusted_links.hpp"
#include "base/text.hpp"
#include "domain/pulled_line.hpp"

namespace muster::agent {
namespace {

constexpr int kFolderFlags = O_PATH | O_DIRECTORY;

std::unexpected<Error> WalkError(const std::string& path, int error) {
  const ErrorCode code = error == ENOENT    ? ErrorCode::kNotFound
                         : error == ENOTDIR ? ErrorCode::kInvalid
                         : error == ELOOP   ? ErrorCode::kDenied
                                            : ErrorCode::kUnavailable;
  return Fail(code, "{}: {}{}", EscapePath(path), ErrnoText(error),
              error == EACCES ? " for " + files::UserText(::geteuid()) : "");
}

// -1 and errno, as openat.
int OpenWithoutLinks(const std::string& path, int flags) {
  struct open_how how{};
  how.flags = static_cast<std::uint64_t>(files::SafeFlags(flags));
  how.resolve = RESOLVE_NO_SYMLINKS;
  return static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how));
}

// Old seccomp profiles of containers answer EPERM to calls they do not know.
bool IsMissingCall(int error) { return error == ENOSYS || error == EPERM; }

// From the root folder, one component at a time.
Result<Fd> OpenStepwise(const std::string& path, int flags, uid_t user) {
  const Fd root(::open("/", kFolderFlags | O_CLOEXEC));
  auto opened = files::OpenTrusted(root.Get(), path, flags, user);
  if (opened.file) return std::move(opened.file);
  if (opened.distrusted)
    return Fail(
        ErrorCode::kDenied,
        "{}: a symbolic link of another user (uid {}) is in this path, and leads to what is "
        "not that user's; it is not followed. Name the real path, or that user for the "
        "transfer",
        EscapePath(path), *opened.distrusted);
  if (opened.error == ESTALE)
    return Fail(ErrorCode::kDenied, "{}: was replaced while it was opened", EscapePath(path));
  return WalkError(path, opened.error);
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

}  // namespace

Result<Fd> PathWalk::Open(const std::string& path, int flags) {
  if (way_ == Way::kKernel) {
    const int fd = OpenWithoutLinks(path, flags);
    if (fd >= 0) return Fd(fd);
    if (IsMissingCall(errno))
      way_ = Way::kStepwise;
    else if (errno != ELOOP)
      return WalkError(path, errno);
  }
  return OpenStepwise(path, flags, user_);
}

Result<Fd> PathWalk::Folder(const std::string& path) { return Open(path, kFolderFlags); }

Result<> PathWalk::Find(const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string above = slash == 0 ? "/" : path.substr(0, slash);
  const auto folder = Folder(above);
  if (!folder) return Fail(folder.error());
  struct stat status{};
  if (::fstatat(folder->Get(), path.c_str() + slash + 1, &status, AT_SYMLINK_NOFOLLOW) == 0)
    return {};
  // Looking for a name takes rights on its folder.
  return WalkError(errno == EACCES ? above : path, errno);
}

Result<Fd> PathWalk::Below(int root, const std::string& path) {
  const auto open = way_ == Way::kKernel ? files::OpenBeneath : files::WalkBeneath;
  Fd at = open(root, path.empty() ? "." : path, kFolderFlags, files::Links::kNone);
  if (!at) return WalkError(path, errno);
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
