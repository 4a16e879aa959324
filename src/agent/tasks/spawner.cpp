#include "agent/tasks/spawner.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/close_range.h>
#include <new>
#include <optional>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/shim/account.hpp"
#include "agent/shim/shim.hpp"
#include "base/text.hpp"

namespace muster::agent {
namespace {

constexpr std::size_t kMaxFolder = 4096;
constexpr timeval kPatience{10, 0};     // with the spawner
constexpr timeval kShimPatience{2, 0};  // with a shim that said it waits: it was killed

// Descriptors of the spawner and its shims.
constexpr int kChannel = STDERR_FILENO + 1;
constexpr int kWaiting = STDERR_FILENO + 2;

constexpr int kMaxWaiting = 8;
constexpr timeval kWaitForWork{10, 0};
constexpr int kMaxTasks = 1000;  // of one shim: what it might leak ends with it

}  // namespace

// Lies in memory that the agent, its spawner and all shims share. Whoever takes one off the count
// has the right to one shim's wait: the agent to give it work, the shim itself to end.
struct WaitingShims {
  std::atomic<int> count = 0;

  bool Take() {
    for (int seen = count.load(); seen > 0;)
      if (count.compare_exchange_weak(seen, seen - 1)) return true;
    return false;
  }
};

namespace {

std::shared_ptr<WaitingShims> ShareCount() {
  void* page = ::mmap(nullptr, sizeof(WaitingShims), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return {};  // NOLINT
  return {new (page) WaitingShims,
          [](WaitingShims* shared) { ::munmap(shared, sizeof(WaitingShims)); }};
}

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

// The next task, or nothing when this process should end.
std::optional<std::string> AwaitTask(WaitingShims& waiting) {
  pid_t child = 0;
  do child = ::waitpid(-1, nullptr, WNOHANG);
  while (child > 0);
  const bool has_children = child == 0;
  if (has_children) return {};
  if (waiting.count.fetch_add(1) >= kMaxWaiting && waiting.Take()) return {};
  std::array<char, kMaxFolder> buffer{};
  ssize_t got = 0;
  do got = ::recv(kWaiting, buffer.data(), buffer.size(), 0);
  while (got < 0 && (errno == EINTR || (errno == EAGAIN && !waiting.Take())));
  if (got <= 0) return {};
  // A kill that came too late for the last task is not for the next one.
  sigset_t late;
  sigemptyset(&late);
  for (const int number : {SIGUSR1, SIGCHLD}) sigaddset(&late, number);
  constexpr timespec kNow{};
  while (::sigtimedwait(&late, nullptr, &kNow) > 0) {
  }
  return std::string(buffer.data(), static_cast<std::size_t>(got));
}

// As a shim started by the agent itself begins: see exec_shim.cpp.
[[noreturn]] void BecomeShim(const TitleArea& area, std::string folder, WaitingShims& waiting) {
  ::setsid();
  sigset_t taken;
  sigemptyset(&taken);
  for (const int number : {SIGUSR1, SIGTERM, SIGCHLD}) {
    sigaddset(&taken, number);
    ::signal(number, SIG_DFL);
  }
  ::sigprocmask(SIG_SETMASK, &taken, nullptr);
  ::close(kChannel);
  DetachShim(kWaiting + 1);
  ::fcntl(kWaiting, F_SETFD, FD_CLOEXEC);
  for (int task = 1;; ++task) {
    SetTitle(area, "muster-agent shim " + folder);
    const int code = RunShim(folder);
    if (code != 0 || task == kMaxTasks) ::_exit(code);
    SetTitle(area, "muster-agent shim, waiting");
    auto next = AwaitTask(waiting);
    if (!next) ::_exit(0);
    folder = std::move(*next);
    const pid_t self = ::getpid();
    if (::send(kWaiting, &self, sizeof self, MSG_NOSIGNAL) != sizeof self) ::_exit(0);
  }
}

pid_t Fork(const TitleArea& area, const std::string& folder, WaitingShims& waiting) {
  // A signal must not end the shim before it takes them through a descriptor.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  // By the bare system call: glibc's fork does not make children of our parent.
  const long pid = ::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) BecomeShim(area, folder, waiting);
  const int error = errno;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return static_cast<pid_t>(pid < 0 ? -error : pid);
}

// Moves the two to their fixed numbers, whatever they have now, and closes everything above.
void PlaceDescriptors(int channel, int waiting) {
  const int null = ::open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
  const int high_channel = ::fcntl(channel, F_DUPFD, kWaiting + 1);
  const int high_waiting = ::fcntl(waiting, F_DUPFD, kWaiting + 1);
  ::dup2(high_channel, kChannel);
  ::dup2(high_waiting, kWaiting);
  ::close_range(kWaiting + 1, ~0U, 0);
}

[[noreturn]] void Serve(int channel, int waiting, WaitingShims& count) {
  ::prctl(PR_SET_NAME, "muster-spawner");
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE}) ::signal(number, SIG_IGN);
  const TitleArea area = FindTitleArea();
  ::clearenv();
  SetTitle(area, "muster-agent spawner");
  PlaceDescriptors(channel, waiting);
  [[maybe_unused]] const int moved = ::chdir("/");
  // The name services load their modules here, once, and not in every shim.
  static_cast<void>(FindAccount(""));
  std::array<char, kMaxFolder> buffer{};
  for (;;) {
    const ssize_t got = ::recv(kChannel, buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) ::_exit(0);
    const pid_t pid = Fork(area, std::string(buffer.data(), static_cast<std::size_t>(got)), count);
    if (::send(kChannel, &pid, sizeof pid, 0) != sizeof pid) ::_exit(0);
  }
}

}  // namespace

Result<Spawner> Spawner::Start() {
  int spawner_ends[2];
  int shim_ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, spawner_ends) != 0)
    return Fail(ErrorCode::kUnavailable, "socketpair: {}", ErrnoText(errno));
  Spawner spawner;
  spawner.channel_ = Fd(spawner_ends[0]);
  const Fd channel(spawner_ends[1]);
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, shim_ends) != 0)
    return Fail(ErrorCode::kUnavailable, "socketpair: {}", ErrnoText(errno));
  spawner.waiting_ = Fd(shim_ends[0]);
  const Fd waiting(shim_ends[1]);
  spawner.count_ = ShareCount();
  if (!spawner.count_) return Fail(ErrorCode::kUnavailable, "mmap: {}", ErrnoText(errno));
  for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO}) {
    ::setsockopt(spawner.channel_.Get(), SOL_SOCKET, option, &kPatience, sizeof kPatience);
    ::setsockopt(spawner.waiting_.Get(), SOL_SOCKET, option, &kShimPatience, sizeof kShimPatience);
  }
  ::setsockopt(waiting.Get(), SOL_SOCKET, SO_RCVTIMEO, &kWaitForWork, sizeof kWaitForWork);
  const pid_t pid = ::fork();
  if (pid < 0) return Fail(ErrorCode::kUnavailable, "fork: {}", ErrnoText(errno));
  if (pid == 0) {
    spawner.channel_.Reset();
    spawner.waiting_.Reset();
    Serve(channel.Get(), waiting.Get(), *spawner.count_);
  }
  return spawner;
}

Result<pid_t> Spawner::Spawn(const std::string& folder) {
  if (!channel_) return Fail(ErrorCode::kUnavailable, "there is no spawner");
  if (folder.size() > kMaxFolder) return Fail(ErrorCode::kUnavailable, "{} is too long", folder);
  return AskOne(waiting_ && count_->Take() ? waiting_ : channel_, folder);
}

Result<pid_t> Spawner::AskOne(Fd& channel, const std::string& folder) {
  const auto give_up = [&](ErrorCode code, int error) {
    channel.Reset();
    return Fail(code, "the spawner failed: {}", ErrnoText(error));
  };
  if (::send(channel.Get(), folder.data(), folder.size(), MSG_NOSIGNAL) < 0)
    return give_up(ErrorCode::kUnavailable, errno);
  pid_t pid = 0;
  ssize_t got = 0;
  do got = ::recv(channel.Get(), &pid, sizeof pid, 0);
  while (got < 0 && errno == EINTR);
  if (got != sizeof pid) return give_up(ErrorCode::kTimeout, got < 0 ? errno : ECONNRESET);
  if (pid <= 0) return Fail(ErrorCode::kUnavailable, "could not start a shim: {}", ErrnoText(-pid));
  return pid;
}

}  // namespace muster::agent
