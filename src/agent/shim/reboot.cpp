#include "agent/shim/reboot.hpp"

#include <csignal>
#include <sys/wait.h>

#include "agent/files.hpp"

namespace muster::agent {

std::vector<std::string> RebootWords(const Reboot& reboot, bool systemd) {
  if (!reboot.argv.empty()) return reboot.argv;
  if (systemd) return {"systemctl", "reboot"};
  return {"reboot"};
}

bool SystemdRuns() noexcept { return Exists("/run/systemd/system"); }

bool MayRestart(int status) noexcept {
  constexpr int kShellSaysSignal = 128;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  if (code == 0 && !WIFSIGNALED(status)) return true;
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : code - kShellSaysSignal;
  return signal == SIGTERM || signal == SIGKILL || signal == SIGHUP;
}

std::string NoRestartWithin(Duration timeout) {
  return fmt::format("the host did not restart within {}", FormatDuration(timeout));
}

// Two parts follow it, see ShimRunner::Recover.
std::string_view KernelBoot(std::string_view boot) noexcept {
  for (int part = 0; part < 2; ++part) boot = boot.substr(0, boot.rfind('-'));
  return boot;
}

}  // namespace muster::agent
