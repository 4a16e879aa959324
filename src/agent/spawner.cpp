#include "agent/spawner.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/account.hpp"
#include "agent/shim.hpp"
#include "base/text.hpp"

namespace muster::agent {
namespace {

constexpr std::size_t kMaxFolder = 4096;
constexpr timeval kPatience{10, 0};

// The memory where the kernel looks for a process's command line and environment.
struct TitleArea {
  char* begin = nullptr;
  std::size_t size = 0;
};

TitleArea FindTitleArea() {
  const auto stat = ReadFile("/proc/self/stat");
  if (!stat) return {};
  const auto close = stat->rfind(") ");
  if (close == std::string::npos) return {};
  // arg_start, arg_end, env_start and env_end are the fields 48 to 51; the state is field 3.
  const auto fields = Split(std::string_view(*stat).substr(close + 2), ' ');
  constexpr std::size_t kArgStart = 48 - 3;
  if (fields.size() < kArgStart + 4) return {};
  std::array<std::uintptr_t, 4> at{};
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto text = fields[kArgStart + i];
    if (std::from_chars(text.data(), text.data() + text.size(), at[i]).ec != std::errc{}) return {};
  }
  if (at[0] == 0 || at[1] < at[0]) return {};
  const bool joined = at[1] == at[2] && at[3] >= at[2];
  return {reinterpret_cast<char*>(at[0]), (joined ? at[3] : at[1]) - at[0]};  // NOLINT
}

// What `ps` shows. Nothing of the agent's words and environment stays readable: they may hold a
// join token, and a task can read those of its shim.
void SetTitle(const TitleArea& area, const std::string& title) {
  if (area.size == 0) return;
  std::memset(area.begin, 0, area.size);
  std::memcpy(area.begin, title.data(), std::min(title.size(), area.size - 1));
}

// As a shim started by the agent itself begins: see SpawnSettings in shim_runner.cpp.
[[noreturn]] void BecomeShim(const TitleArea& area, const std::string& folder) {
  ::setsid();
  sigset_t taken;
  sigemptyset(&taken);
  for (const int number : {SIGUSR1, SIGTERM, SIGCHLD}) {
    sigaddset(&taken, number);
    ::signal(number, SIG_DFL);
  }
  ::sigprocmask(SIG_SETMASK, &taken, nullptr);
  SetTitle(area, "muster-agent shim " + folder);
  ::_exit(RunShim(folder));
}

pid_t Fork(const TitleArea& area, const std::string& folder) {
  // A signal must not end the shim before it takes them through a descriptor.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  // By the bare system call: glibc's fork does not make children of our parent.
  const long pid = ::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) BecomeShim(area, folder);
  const int error = errno;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return static_cast<pid_t>(pid < 0 ? -error : pid);
}

[[noreturn]] void Serve(int channel) {
  ::prctl(PR_SET_NAME, "muster-spawner");
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE}) ::signal(number, SIG_IGN);
  const TitleArea area = FindTitleArea();
  ::clearenv();
  SetTitle(area, "muster-agent spawner");
  const int null = ::open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
  ::dup2(channel, STDERR_FILENO + 1);
  ::close_range(STDERR_FILENO + 2, ~0U, 0);
  channel = STDERR_FILENO + 1;
  [[maybe_unused]] const int moved = ::chdir("/");
  // The name services load their modules here, once, and not in every shim.
  static_cast<void>(FindAccount(""));
  std::array<char, kMaxFolder> buffer{};
  for (;;) {
    const ssize_t got = ::recv(channel, buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) ::_exit(0);
    const pid_t pid = Fork(area, std::string(buffer.data(), static_cast<std::size_t>(got)));
    if (::send(channel, &pid, sizeof pid, 0) != sizeof pid) ::_exit(0);
  }
}

}  // namespace

Result<Spawner> Spawner::Start() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return Fail(ErrorCode::kUnavailable, "socketpair: {}", ErrnoText(errno));
  Spawner spawner;
  spawner.channel_ = Fd(ends[0]);
  const Fd other(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return Fail(ErrorCode::kUnavailable, "fork: {}", ErrnoText(errno));
  if (pid == 0) {
    ::close(ends[0]);
    Serve(ends[1]);
  }
  ::setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  ::setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  return spawner;
}

Result<pid_t> Spawner::Spawn(const std::string& folder) {
  const auto give_up = [&](ErrorCode code, int error) {
    channel_.Reset();
    return Fail(code, "the spawner failed: {}", ErrnoText(error));
  };
  if (!channel_) return Fail(ErrorCode::kUnavailable, "there is no spawner");
  if (folder.size() > kMaxFolder) return Fail(ErrorCode::kUnavailable, "{} is too long", folder);
  if (::send(channel_.Get(), folder.data(), folder.size(), MSG_NOSIGNAL) < 0)
    return give_up(ErrorCode::kUnavailable, errno);
  pid_t pid = 0;
  ssize_t got = 0;
  do got = ::recv(channel_.Get(), &pid, sizeof pid, 0);
  while (got < 0 && errno == EINTR);
  if (got != sizeof pid) return give_up(ErrorCode::kTimeout, got < 0 ? errno : ECONNRESET);
  if (pid <= 0) return Fail(ErrorCode::kUnavailable, "could not start a shim: {}", ErrnoText(-pid));
  return pid;
}

}  // namespace muster::agent
