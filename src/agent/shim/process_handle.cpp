#include "agent/shim/process_handle.hpp"

#include <cerrno>
#include <csignal>
#include <sys/syscall.h>
#include <unistd.h>

namespace muster::agent {
namespace {

// The same on every architecture; headers before Linux 5.3 do not have them.
constexpr long kPidfdSendSignal = 424;
constexpr long kPidfdOpen = 434;

}  // namespace

ProcessHandle ProcessHandle::Hold(pid_t pid) {
  ProcessHandle handle;
  if (pid <= 0) return handle;
  handle.fd_ = Fd(static_cast<int>(::syscall(kPidfdOpen, pid, 0)));
  const bool missing_call = !handle.fd_ && (errno == ENOSYS || errno == EPERM);
  if (handle.fd_ || missing_call) handle.pid_ = pid;
  return handle;
}

bool ProcessHandle::Signal(int number) const noexcept {
  if (!*this) return false;
  if (!fd_) return ::kill(pid_, number) == 0;
  return ::syscall(kPidfdSendSignal, fd_.Get(), number, nullptr, 0) == 0;
}

bool ProcessHandle::Queue(int number, int value) const noexcept {
  if (!*this) return false;
  sigval with{};
  with.sival_int = value;
  if (!fd_) return ::sigqueue(pid_, number, with) == 0;
  siginfo_t info{};
  info.si_signo = number;
  info.si_code = SI_QUEUE;
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  info.si_value = with;
  return ::syscall(kPidfdSendSignal, fd_.Get(), number, &info, 0) == 0;
}

}  // namespace muster::agent
