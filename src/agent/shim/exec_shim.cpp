#include "agent/shim/exec_shim.hpp"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

namespace muster::agent {
namespace {

// Started with the signals blocked that a shim takes through a descriptor, so that none can end it
// before it is ready; in a session of its own, so that none reaches it by our group.
class SpawnSettings {
 public:
  SpawnSettings() {
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawn_file_actions_init(&actions_);
    sigset_t taken;
    sigemptyset(&taken);
    for (const int number : {SIGUSR1, SIGTERM, SIGCHLD}) sigaddset(&taken, number);
    ::posix_spawnattr_setsigmask(&attributes_, &taken);
    ::posix_spawnattr_setsigdefault(&attributes_, &taken);
    ::posix_spawnattr_setflags(&attributes_,
                               POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      ::posix_spawn_file_actions_addopen(&actions_, fd, "/dev/null", O_RDWR, 0);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  int Spawn(pid_t& pid, const std::string& executable, std::string folder) const {
    std::string name = "muster-agent";
    std::string verb = "shim";
    std::array<char*, 4> argv = {name.data(), verb.data(), folder.data(), nullptr};
    // Nothing of our environment: it may hold a join token, and a task can read its shim's.
    char* no_env = nullptr;
    return ::posix_spawn(&pid, executable.c_str(), &actions_, &attributes_, argv.data(), &no_env);
  }

 private:
  posix_spawnattr_t attributes_;
  posix_spawn_file_actions_t actions_;
};

}  // namespace

int ExecShim(pid_t& pid, const std::string& executable, std::string folder) {
  return SpawnSettings().Spawn(pid, executable, std::move(folder));
}

}  // namespace muster::agent
