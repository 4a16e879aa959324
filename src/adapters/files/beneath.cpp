#include "adapters/files/beneath.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <deque>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include "adapters/files/safe_flags.hpp"
#include "base/text.hpp"

namespace muster::files {
namespace {

constexpr int kFolder = O_PATH | O_DIRECTORY | O_CLOEXEC;

bool BeginsWithDot(std::string_view part) {
  return part.starts_with('.') && part != "." && part != "..";
}

// Holds each folder from the root down to where the walk is, so that ".." goes back to the folder
// it came from, whatever was renamed meanwhile.
class Walk {
 public:
  Walk(int root, Links links, bool dots = true) : root_(root), links_(links), dots_(dots) {}

  Fd Open(const std::string& path, int flags) {
    if (!Queue(path)) return {};
    while (!parts_.empty()) {
      const std::string part = parts_.front();
      parts_.pop_front();
      if (part == "..") {
        if (!Up()) return {};
      } else if (!parts_.empty()) {
        if (!Down(part)) return {};
      } else if (Fd fd = Last(part, flags); fd || parts_.empty()) {
        return fd;
      }
    }
    return Fd(::openat(Here(), ".", SafeFlags(flags)));
  }

 private:
  int Here() const { return below_.empty() ? root_ : below_.back().Get(); }

  static bool Refuse(int error) {
    errno = error;
    return false;
  }

  // Puts the parts of `path` before those that are left.
  bool Queue(const std::string& path) {
    if (path.starts_with('/')) return Refuse(EXDEV);
    const auto parts = Split(path, '/');
    if (!dots_ && std::ranges::any_of(parts, BeginsWithDot)) return Refuse(EPERM);
    for (auto part = parts.rbegin(); part != parts.rend(); ++part)
      if (!part->empty() && *part != ".") parts_.emplace_front(*part);
    if (parts_.empty()) parts_.emplace_back(".");
    return true;
  }

  bool Up() {
    if (below_.empty()) return Refuse(EXDEV);
    below_.pop_back();
    return true;
  }

  bool Down(const std::string& part) {
    Fd fd = OpenPart(Here(), part);
    struct stat status{};
    if (!fd || ::fstat(fd.Get(), &status) != 0) return false;
    if (S_ISLNK(status.st_mode)) return Follow(fd);
    if (!S_ISDIR(status.st_mode)) return Refuse(ENOTDIR);
    below_.push_back(std::move(fd));
    return true;
  }

  // None, with more parts to go: it was a link, and they lead on.
  Fd Last(const std::string& part, int flags) {
    Fd fd(::openat(Here(), part.c_str(), SafeFlags(flags | O_NOFOLLOW)));
    const bool may_be_link = fd ? (flags & O_PATH) != 0 : errno == ELOOP || errno == ENOTDIR;
    if (!may_be_link || (flags & O_NOFOLLOW) != 0) return fd;
    const int error = errno;
    Fd link = OpenPart(Here(), part);
    struct stat status{};
    if (!link || ::fstat(link.Get(), &status) != 0) return {};
    if (S_ISLNK(status.st_mode)) {
      Follow(link);
      return {};
    }
    if (fd) return link;  // O_PATH of what is no link
    errno = error;
    return {};
  }

  bool Follow(const Fd& link) {
    if (links_ == Links::kNone || ++followed_ > kMostLinks) return Refuse(ELOOP);
    std::array<char, PATH_MAX> target{};
    const auto size = ::readlinkat(link.Get(), "", target.data(), target.size());
    if (size < 0) return false;
    return Queue(std::string(target.data(), static_cast<std::size_t>(size)));
  }

  const int root_;
  const Links links_;
  const bool dots_;  // may begin a name
  std::vector<Fd> below_;
  std::deque<std::string> parts_;
  int followed_ = 0;
};

// The folder `name` in an open one; made when it is missing and there is room.
Fd MakePart(int folder, const std::string& name, mode_t mode, std::size_t& room) {
  Fd fd = OpenPart(folder, name);
  if (!fd && errno == ENOENT) {
    if (room == 0) {
      errno = EDQUOT;
      return {};
    }
    if (::mkdirat(folder, name.c_str(), mode) == 0)
      --room;
    else if (errno != EEXIST)
      return {};
    fd = OpenPart(folder, name);
  }
  struct stat status{};
  if (!fd || ::fstat(fd.Get(), &status) != 0) return {};
  if (S_ISDIR(status.st_mode)) return fd;
  errno = S_ISLNK(status.st_mode) ? ELOOP : ENOTDIR;
  return {};
}

}  // namespace

Fd WalkBeneath(int root, const std::string& path, int flags, Links links) {
  return Walk(root, links).Open(path, flags);
}

Fd OpenBeneath(int root, const std::string& path, int flags, Links links) {
  if (path.find('\0') != std::string::npos) {
    errno = EINVAL;
    return {};
  }
  open_how how{};
  how.flags = static_cast<std::uint64_t>(SafeFlags(flags));
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  if (links == Links::kNone) how.resolve |= RESOLVE_NO_SYMLINKS;
  // EAGAIN: something was renamed while the kernel looked; it asks to be called again.
  for (int left = 16; left > 0; --left) {
    const long fd = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
    // Old seccomp profiles of containers answer EPERM to calls they do not know.
    if (fd >= 0 || (errno != EAGAIN && errno != ENOSYS && errno != EPERM))
      return Fd(static_cast<int>(fd));
    if (errno != EAGAIN) break;
  }
  return WalkBeneath(root, path, flags, links);
}

Fd OpenWithoutDots(int root, const std::string& path, int flags) {
  if (path.find('\0') == std::string::npos)
    return Walk(root, Links::kInside, false).Open(path, flags);
  errno = EINVAL;
  return {};
}

Fd MakeBeneath(int root, const std::string& path, mode_t mode, std::size_t& room) {
  Fd at = OpenBeneath(root, path, kFolder, Links::kNone);
  if (at || errno != ENOENT) return at;
  at = Fd(::openat(root, ".", kFolder));
  for (const auto part : Split(path, '/')) {
    if (!at) break;
    at = MakePart(at.Get(), std::string(part), mode, room);
  }
  return at;
}

// As a folder first: otherwise the kernel would not mount what an automounter mounts on demand.
Fd OpenPart(int folder, const std::string& name) {
  Fd fd(::openat(folder, name.c_str(), kFolder | O_NOFOLLOW));
  if (fd || errno != ENOTDIR) return fd;
  return Fd(::openat(folder, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
}

}  // namespace muster::files
