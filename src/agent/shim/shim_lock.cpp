#include "agent/shim/shim_lock.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>

namespace muster::agent {
namespace {

struct flock WholeFile() {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

Result<Fd> TakeLock(const TaskFolder& folder) {
  auto fd = OpenFile(folder.Order(), O_RDWR | O_CREAT);
  if (!fd) return fd;
  auto lock = WholeFile();
  if (::fcntl(fd->Get(), F_SETLK, &lock) == 0) return fd;
  if (errno == EACCES || errno == EAGAIN)
    return Fail(ErrorCode::kConflict, "{} is held by its shim", folder.path);
  return Fail(ErrorCode::kUnavailable, "lock {}: {}", folder.Order(), ErrnoText(errno));
}

std::optional<pid_t> LockHolder(const TaskFolder& folder) {
  const auto fd = OpenFile(folder.Order(), O_RDWR);
  if (!fd) return {};
  auto lock = WholeFile();
  if (::fcntl(fd->Get(), F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return {};
  return lock.l_pid;
}

ProcessHandle HoldShim(const TaskFolder& folder, pid_t child) {
  constexpr int kLooks = 3;
  for (int look = 0; look < kLooks; ++look) {
    const auto holder = LockHolder(folder);
    const pid_t pid = holder.value_or(child);
    ProcessHandle shim = ProcessHandle::Hold(pid);
    if (!shim) return shim;
    // It may have ended before it was held, and its number be another's: then it does not have the
    // lock any more, or is no child of ours.
    siginfo_t ignored{};
    if (holder
            ? LockHolder(folder) == holder
            : ::waitid(P_PID, static_cast<id_t>(pid), &ignored, WEXITED | WNOHANG | WNOWAIT) == 0)
      return shim;
  }
  return {};
}

}  // namespace muster::agent
