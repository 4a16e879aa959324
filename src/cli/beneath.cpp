#include "cli/beneath.hpp"

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

#include "base/text.hpp"

namespace muster::cli {
namespace {

constexpr int kMostLinks = 40;  // as the kernel's own limit

// Holds each folder from the root down to where the walk is, so that ".." goes back to the folder
// it came from, whatever was renamed meanwhile.
class Walk {
 public:
  explicit Walk(int root) : root_(root) {}
  ~Walk() {
    for (const int fd : below_) ::close(fd);
  }
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  int Open(const std::string& path, int flags) {
    if (!Queue(path)) return -1;
    while (!parts_.empty()) {
      const std::string part = parts_.front();
      parts_.pop_front();
      if (part == "..") {
        if (!Up()) return -1;
        continue;
      }
      if (parts_.empty()) {
        const int fd = Last(part, flags);
        if (fd != kWentOn) return fd;
      } else if (!Down(part)) {
        return -1;
      }
    }
    return ::openat(Here(), ".", flags | O_CLOEXEC);
  }

 private:
  static constexpr int kWentOn = -2;

  int Here() const { return below_.empty() ? root_ : below_.back(); }

  // Puts the parts of `path` before those that are left.
  bool Queue(const std::string& path) {
    if (path.starts_with('/')) return Refuse(EXDEV);
    const auto parts = Split(path, '/');
    for (auto part = parts.rbegin(); part != parts.rend(); ++part)
      if (!part->empty() && *part != ".") parts_.emplace_front(*part);
    return true;
  }

  static bool Refuse(int error) {
    errno = error;
    return false;
  }

  bool Up() {
    if (below_.empty()) return Refuse(EXDEV);
    ::close(below_.back());
    below_.pop_back();
    return true;
  }

  bool Down(const std::string& part) {
    const int fd = ::openat(Here(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return false;
    struct stat status{};
    if (::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
      below_.push_back(fd);
      return true;
    }
    const bool link = S_ISLNK(status.st_mode);
    const bool followed = link && Follow(fd);
    const int error = link ? errno : ENOTDIR;
    ::close(fd);
    return followed || Refuse(error);
  }

  int Last(const std::string& part, int flags) {
    const int fd = ::openat(Here(), part.c_str(), flags | O_NOFOLLOW | O_CLOEXEC);
    const bool may_be_link = fd < 0 ? errno == ELOOP || errno == ENOTDIR : (flags & O_PATH) != 0;
    if (!may_be_link || (flags & O_NOFOLLOW) != 0) return fd;
    const int error = errno;
    if (fd >= 0) ::close(fd);
    const int link = ::openat(Here(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (link < 0) return -1;
    struct stat status{};
    if (::fstat(link, &status) == 0 && S_ISLNK(status.st_mode)) {
      const bool followed = Follow(link);
      const int problem = errno;
      ::close(link);
      errno = problem;
      return followed ? kWentOn : -1;
    }
    if (fd >= 0) return link;  // O_PATH of what is no link
    ::close(link);
    errno = error;
    return -1;
  }

  bool Follow(int link) {
    if (++links_ > kMostLinks) return Refuse(ELOOP);
    std::array<char, PATH_MAX> target{};
    const auto size = ::readlinkat(link, "", target.data(), target.size());
    if (size < 0) return false;
    return Queue(std::string(target.data(), static_cast<std::size_t>(size)));
  }

  const int root_;
  std::vector<int> below_;
  std::deque<std::string> parts_;
  int links_ = 0;
};

}  // namespace

int WalkBeneath(int root, const std::string& path, int flags) {
  return Walk(root).Open(path, flags);
}

int OpenBeneath(int root, const std::string& path, int flags) {
  if (path.find('\0') != std::string::npos) {
    errno = EINVAL;
    return -1;
  }
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  // EAGAIN: something was renamed while the kernel looked; it asks to be called again.
  for (int left = 16; left > 0; --left) {
    const long fd = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
    if (fd >= 0 || (errno != EAGAIN && errno != ENOSYS && errno != EPERM))
      return static_cast<int>(fd);
    if (errno != EAGAIN) break;
  }
  return WalkBeneath(root, path, flags);
}

}  // namespace muster::cli
