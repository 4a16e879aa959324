#pragma once

#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace muster {

// A terminal that nobody uses yet.
class OwnTerminal {
 public:
  OwnTerminal() : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    if (master_ < 0 || ::grantpt(master_) != 0 || ::unlockpt(master_) != 0) std::abort();
    char name[64] = {};
    if (::ptsname_r(master_, name, sizeof name) != 0) std::abort();
    path_ = name;
  }
  ~OwnTerminal() { ::close(master_); }
  OwnTerminal(const OwnTerminal&) = delete;
  OwnTerminal& operator=(const OwnTerminal&) = delete;

  const std::string& Path() const { return path_; }

  enum class Seen { kNotOpened, kOpened, kTaken };
  // What becomes of it when the leader of a session without a terminal, a child of this process,
  // opens it by `open`.
  static Seen WhenOpened(const std::function<bool()>& open) {
    const pid_t child = ::fork();
    if (child == 0) {
      if (::setsid() < 0) ::_exit(9);
      if (!open()) ::_exit(static_cast<int>(Seen::kNotOpened));
      const bool taken = ::open("/dev/tty", O_RDWR | O_CLOEXEC) >= 0;
      ::_exit(static_cast<int>(taken ? Seen::kTaken : Seen::kOpened));
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status)) std::abort();
    return static_cast<Seen>(WEXITSTATUS(status));
  }

 private:
  int master_;
  std::string path_;
};

}  // namespace muster
