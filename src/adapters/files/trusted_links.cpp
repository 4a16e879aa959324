#include "adapters/files/trusted_links.hpp"

#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "adapters/files/beneath.hpp"
#include "adapters/files/safe_flags.hpp"

namespace muster::files {
namespace {

constexpr int kStepFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;

class Steps {
 public:
  Steps(std::string path, int flags, uid_t user)
      : rest_(std::move(path)), flags_(SafeFlags(flags)), user_(user) {}

  Opened Run(int from) {
    at_ = Fd(::openat(from, ".", kStepFlags));
    if (!at_) return Failed(errno);
    while (TakeName()) {
      Fd next = OpenPart(at_.Get(), name_);
      struct stat status{};
      if (!next || ::fstat(next.Get(), &status) != 0) return Failed(errno);
      const bool is_link = S_ISLNK(status.st_mode);
      if (is_link && !(AtEnd() && (flags_ & O_NOFOLLOW) != 0)) {
        if (const int error = Follow(next, status.st_uid); error != 0) return Failed(error);
      } else if (AtEnd()) {
        return OpenLast(status);
      } else if (S_ISDIR(status.st_mode)) {
        at_ = std::move(next);
      } else {
        return Failed(ENOTDIR);
      }
    }
    // Nothing follows the folder where we are: the path was "/", or ended in "/.".
    name_ = ".";
    struct stat status{};
    if (::fstat(at_.Get(), &status) != 0) return Failed(errno);
    return OpenLast(status);
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
  int Follow(const Fd& link, uid_t owner) {
    if (++links_ > kMostLinks) return ELOOP;
    if (owner != 0 && owner != user_) {
      if (third_user_ && *third_user_ != owner) return Distrust();
      third_user_ = owner;
    }
    std::string target(PATH_MAX, '\0');
    const ssize_t size = ::readlinkat(link.Get(), "", target.data(), target.size());
    if (size <= 0) return size < 0 ? errno : ENOENT;
    target.resize(static_cast<std::size_t>(size));
    if (target.starts_with('/')) at_ = Fd(::open("/", kStepFlags));
    rest_ = target + "/" + rest_;
    return 0;
  }

  // Opened by its name once more, as an O_PATH descriptor cannot be read from; `found` says what
  // that name led to when its owner was looked at.
  Opened OpenLast(const struct stat& found) {
    if (third_user_ && found.st_uid != *third_user_) return Failed(Distrust());
    Fd file(::openat(at_.Get(), name_.c_str(), flags_ | O_NOFOLLOW));
    struct stat status{};
    if (!file || ::fstat(file.Get(), &status) != 0) return Failed(errno);
    if (status.st_dev != found.st_dev || status.st_ino != found.st_ino) return Failed(ESTALE);
    return {.file = std::move(file)};
  }

  int Distrust() {
    distrusted_ = third_user_;
    return EACCES;
  }

  Opened Failed(int error) const { return {.file = {}, .error = error, .distrusted = distrusted_}; }

  std::string rest_;
  const int flags_;
  const uid_t user_;
  std::string name_;
  std::optional<uid_t> third_user_;
  std::optional<uid_t> distrusted_;
  int links_ = 0;
  Fd at_;
};

}  // namespace

Opened OpenTrusted(int from, const std::string& path, int flags, uid_t user) {
  return Steps(path, flags, user).Run(from);
}

}  // namespace muster::files
