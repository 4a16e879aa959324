#include "agent/shim/shim.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <memory>
#include <optional>
#include <poll.h>
#include <span>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/files.hpp"
#include "agent/host/clocks.hpp"
#include "agent/shim/exit_file.hpp"
#include "agent/shim/launch.hpp"
#include "agent/shim/output_keeper.hpp"
#include "agent/shim/outputs.hpp"
#include "agent/shim/reboot.hpp"
#include "agent/shim/shim_lock.hpp"
#include "agent/shim/task_process.hpp"
#include "agent/tasks/task_files.hpp"
#include "agent/tasks/task_folder.hpp"

namespace muster::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kPipeWait = seconds(2);  // for the pipes, after the first process ended
constexpr Duration kSettleWait =
    milliseconds(200);                              // for processes that closed them and are ending
constexpr Duration kKillAgain = milliseconds(100);  // what was forked while we looked
constexpr Duration kGiveUp = seconds(5);            // a process the kernel cannot end
constexpr std::size_t kReadBytes = 256 << 10;
constexpr int kGoesDown = 6;  // what the shim exits with then
// And when its task's end could not be written: a shim that lived on would look like one that runs.
constexpr int kNotKept = 7;

enum class StopCause { kTimeout, kKill, kLeftovers };

std::string OwnHostName() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

class Shim {
 public:
  Shim(TaskFolder folder, link::Order order);
  int Run();

 private:
  bool Prepare();
  bool Refuse(std::string reason);  // as Skip: whether that is kept
  bool Skip();
  Result<TaskGroup> FindGroup() const;
  Result<> Start();

  void Supervise();
  bool Done(MonoTime now);
  MonoTime NextDeadline(MonoTime now) const;
  void Wait(MonoTime deadline);
  std::span<const signalfd_siginfo> PendingSignals();
  void OnSignals();
  void OnTime(MonoTime now);
  void OnTerm(MonoTime now);
  void ObeyKill(const signalfd_siginfo& signal, MonoTime now);
  void Stop(StopCause cause, Duration grace, MonoTime now);
  void Drain(Stream stream);
  void DrainAll();

  bool AwaitsRestart() const;
  void KeepRestart() const;
  TaskEnd Conclude() const;
  [[nodiscard]] bool WriteExit(TaskEnd end) const;
  void Linger();

  const Command& Cmd() const { return *order_.command; }

  TaskFolder folder_;
  link::Order order_;
  Fd signals_;
  Fd timer_;
  std::array<signalfd_siginfo, 4> pending_{};  // one of each, as none of them queues up
  std::optional<ExitFile> exit_;
  std::optional<OutputKeeper> output_;
  std::optional<Launch> launch_;
  std::optional<TaskProcess> process_;
  std::unique_ptr<char[]> buffer_ = std::make_unique_for_overwrite<char[]>(kReadBytes);

  WallTime started_;
  WallTime ended_;
  MonoTime timeout_at_ = kNever;
  MonoTime first_ended_at_ = kNever;
  MonoTime pipes_closed_at_ = kNever;
  std::optional<StopCause> cause_;
  MonoTime kill_at_ = kNever;     // the next KILL
  MonoTime give_up_at_ = kNever;  // after the first one
  bool goes_down_ = false;        // the machine, as this task asked for
};

Shim::Shim(TaskFolder folder, link::Order order)
    : folder_(std::move(folder)), order_(std::move(order)) {}

int Shim::Run() {
  if (!Prepare()) return 1;
  if (Exists(folder_.Kill())) return Skip() ? 0 : kNotKept;
  if (auto started = Start(); !started) return Refuse(started.error().message) ? 0 : kNotKept;
  Supervise();
  if (goes_down_) ::_exit(kGoesDown);  // its process may be starting yet, with what is ours
  if (!WriteExit(Conclude())) return kNotKept;
  Linger();
  launch_->group.Remove();
  return 0;
}

bool Shim::Prepare() {
  started_ = WallNow();
  sigset_t mine;
  sigemptyset(&mine);
  for (const int number : {SIGUSR1, SIGTERM, SIGCHLD}) sigaddset(&mine, number);
  ::sigprocmask(SIG_SETMASK, &mine, nullptr);
  signals_ = Fd(::signalfd(-1, &mine, SFD_CLOEXEC | SFD_NONBLOCK));
  timer_ = Fd(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  auto exit = ExitFile::Reserve(folder_, order_.task);
  if (!exit) return false;
  exit_.emplace(std::move(*exit));
  OutputLimits limits;
  limits.max_output = Cmd().max_output;
  const LineMask::Words words{.hosts = {order_.host_name, OwnHostName()},
                              .run = FormatRunId(order_.task.run),
                              .task = FolderName(order_.task)};
  output_.emplace(folder_.Spool(), Cmd().masks, limits, words, folder_.path);
  return signals_ && timer_;
}

bool Shim::Refuse(std::string reason) {
  TaskEnd end;
  end.state = TaskState::kRefused;
  end.reason = std::move(reason);
  ended_ = WallNow();
  return WriteExit(std::move(end));
}

bool Shim::Skip() {
  TaskEnd end;
  end.state = TaskState::kSkipped;
  end.reason = "stopped before it started";
  ended_ = WallNow();
  return WriteExit(std::move(end));
}

Result<TaskGroup> Shim::FindGroup() const {
  if (!Cmd().resources.Any()) return TaskGroup();
  const auto text = ReadFile(folder_.Cgroup());
  if (!text) return Fail(text.error());
  return TaskGroup::Parse(*text);
}

Result<> Shim::Start() {
  // Files are moved by our own program, which takes the user's rights itself where they matter.
  auto account = FindAccount(Cmd().MovesFiles() ? "" : Cmd().user);
  if (!account) return Fail(account.error());
  const auto files = MakeTaskFiles(folder_, Cmd(), *account);
  if (!files) return Fail(files.error());
  auto group = FindGroup();
  if (!group) return Fail(group.error());
  const LaunchPaths paths{.script = folder_.Script(),
                          .output = files->output ? folder_.Output() : ""};
  launch_ = Cmd().MovesFiles() ? PlanTransfer(std::move(*account), folder_.path)
                               : PlanLaunch(order_, std::move(*account), paths);
  launch_->group = std::move(*group);
  started_ = WallNow();
  auto process = TaskProcess::Start(*launch_, *files);
  if (!process) return Fail(process.error());
  process_ = std::move(*process);
  if (Cmd().timeout > Duration::zero()) timeout_at_ = BootNow() + Cmd().timeout;
  return {};
}

void Shim::Supervise() {
  for (MonoTime now = BootNow(); !Done(now); now = BootNow()) {
    Wait(NextDeadline(now));
    OnSignals();
    OnTime(BootNow());
  }
  DrainAll();
  const WallTime now = WallNow();
  if (process_->Out()) output_->Close(Stream::kStdout, now);
  if (process_->Err()) output_->Close(Stream::kStderr, now);
  if (!ended_) ended_ = now;
}

bool Shim::Done(MonoTime now) {
  if (goes_down_) return true;
  if (!process_->Status()) return false;
  if (now >= give_up_at_) return true;
  if (cause_) return !process_->AnyLeft();
  if (AwaitsRestart()) return false;
  const bool pipes_over = pipes_closed_at_ <= now || now >= first_ended_at_ + kPipeWait;
  if (!pipes_over) return false;
  if (!process_->AnyLeft()) return true;
  if (pipes_closed_at_ <= now && now < std::max(pipes_closed_at_, first_ended_at_) + kSettleWait)
    return false;
  if (!Cmd().kill_leftovers) return true;
  Stop(StopCause::kLeftovers, Cmd().grace, now);
  return false;
}

MonoTime Shim::NextDeadline(MonoTime now) const {
  if (!process_->Status()) return cause_ ? kill_at_ : std::min(kill_at_, timeout_at_);
  MonoTime next = std::min(kill_at_, give_up_at_);
  if (cause_) return next;
  if (AwaitsRestart()) return std::min(next, timeout_at_);
  next = std::min(next, first_ended_at_ + kPipeWait);
  if (pipes_closed_at_ <= now)
    next = std::min(next, std::max(pipes_closed_at_, first_ended_at_) + kSettleWait);
  return next;
}

void Shim::Wait(MonoTime deadline) {
  struct itimerspec when{};
  if (deadline != kNever) {
    when.it_value.tv_sec = deadline.ms / 1000;
    when.it_value.tv_nsec = deadline.ms % 1000 * 1'000'000;
  }
  ::timerfd_settime(timer_.Get(), TFD_TIMER_ABSTIME, &when, nullptr);
  std::array<pollfd, 4> ready = {pollfd{signals_.Get(), POLLIN, 0}, pollfd{timer_.Get(), POLLIN, 0},
                                 pollfd{process_->Out().Get(), POLLIN, 0},
                                 pollfd{process_->Err().Get(), POLLIN, 0}};
  ::poll(ready.data(), ready.size(), process_->MoreToReap() ? 0 : -1);
  if (ready[2].revents != 0) Drain(Stream::kStdout);
  if (ready[3].revents != 0) Drain(Stream::kStderr);
}

// What is pending now. The task can cause signals faster than they are read: those that come
// meanwhile are left for the next round, after the deadlines.
std::span<const signalfd_siginfo> Shim::PendingSignals() {
  const ssize_t got = ::read(signals_.Get(), pending_.data(), sizeof pending_);
  const auto bytes = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  return {pending_.data(), bytes / sizeof(signalfd_siginfo)};
}

void Shim::OnSignals() {
  bool reap = process_->MoreToReap();
  for (const auto& signal : PendingSignals()) {
    const MonoTime now = BootNow();
    if (signal.ssi_signo == SIGUSR1) ObeyKill(signal, now);
    if (signal.ssi_signo == SIGTERM) OnTerm(now);
    if (signal.ssi_signo == SIGCHLD) reap = true;
  }
  if (reap) process_->Reap();
  if (process_->Status() && first_ended_at_ == kNever) {
    first_ended_at_ = BootNow();
    ended_ = WallNow();
    if (AwaitsRestart()) {
      DrainAll();
      KeepRestart();
    }
  }
}

// To the task that restarts the machine it means that this is under way: whatever it wrote as its
// end now would be wrong.
void Shim::OnTerm(MonoTime now) {
  if (!Cmd().reboot || cause_) return Stop(StopCause::kKill, Cmd().grace, now);
  DrainAll();
  KeepRestart();
  goes_down_ = true;
}

void Shim::OnTime(MonoTime now) {
  if (now >= timeout_at_ && (!process_->Status() || AwaitsRestart()))
    Stop(StopCause::kTimeout, Cmd().grace, now);
  if (now < kill_at_) return;
  process_->Signal(SIGKILL);
  launch_->group.Kill();
  kill_at_ = now + (now < give_up_at_ ? kKillAgain : kGiveUp);
  if (give_up_at_ == kNever) give_up_at_ = now + kGiveUp;
}

// The wish is in its file, and with the signal too, in case there was no room for the file.
void Shim::ObeyKill(const signalfd_siginfo& signal, MonoTime now) {
  const auto wish = ReadFile(folder_.Kill());
  if (wish)
    if (const auto grace = ParseKillWish(*wish)) Stop(StopCause::kKill, *grace, now);
  if (signal.ssi_code == SI_QUEUE) Stop(StopCause::kKill, milliseconds(signal.ssi_int), now);
}

// The first cause stands; a later wish can only shorten the grace.
void Shim::Stop(StopCause cause, Duration grace, MonoTime now) {
  const bool first = !cause_.has_value();
  if (first) cause_ = process_->Status() && !AwaitsRestart() ? StopCause::kLeftovers : cause;
  if (give_up_at_ == kNever) kill_at_ = std::min(kill_at_, now + grace);
  if (first && grace > Duration::zero()) {
    process_->Signal(SIGTERM);
    process_->Signal(SIGCONT);  // a stopped process sees TERM only when it goes on
  }
}

void Shim::Drain(Stream stream) {
  const Fd& pipe = stream == Stream::kStdout ? process_->Out() : process_->Err();
  std::size_t have = 0;
  bool closed = false;
  while (have < kReadBytes) {
    const ssize_t got = ::read(pipe.Get(), buffer_.get() + have, kReadBytes - have);
    if (got < 0 && errno == EINTR) continue;
    closed = got == 0 || (got < 0 && errno != EAGAIN);
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  const WallTime now = WallNow();
  if (have > 0) output_->Take(stream, {buffer_.get(), have}, now);
  if (!closed) return;
  output_->Close(stream, now);
  stream == Stream::kStdout ? process_->CloseOut() : process_->CloseErr();
  if (!process_->Out() && !process_->Err()) pipes_closed_at_ = BootNow();
}

// What is in the pipes now: at most what fits, as a leftover may go on writing for ever.
void Shim::DrainAll() {
  for (int round = 0; round < 8; ++round) {
    if (process_->Out()) Drain(Stream::kStdout);
    if (process_->Err()) Drain(Stream::kStderr);
  }
}

bool Shim::AwaitsRestart() const {
  return Cmd().reboot && !cause_ && process_->Status() && MayRestart(*process_->Status());
}

// How the task ends if the next agent finds another boot. Nothing else of it survives surely.
void Shim::KeepRestart() const {
  TaskEnd end;
  end.state = TaskState::kSucceeded;
  end.reason = kBackAfterRestart;
  end.started = started_;
  end.ended = WallNow();
  end.log = output_->Totals();
  static_cast<void>(Sync(folder_.Spool()));
  static_cast<void>(ReplaceFile(folder_.Restart(), EncodeExitRecord(order_.task, end), 0600,
                                Durability::kSynced));
}

TaskEnd Shim::Conclude() const {
  TaskEnd end;
  if (const auto failure = process_->Failure()) {
    end.state = TaskState::kRefused;
    end.reason = Explain(*launch_, *failure);
    return end;
  }
  const int status = process_->Status().value_or(0);
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  end.leftovers = process_->AnyLeft();
  end.state = status == 0 ? TaskState::kSucceeded : TaskState::kFailed;
  const auto usage = launch_->group.Read();
  end.peak_memory = usage.peak_memory;
  if (cause_ == StopCause::kTimeout) {
    end.state = TaskState::kTimedOut;
    end.reason = Cmd().reboot ? NoRestartWithin(Cmd().timeout)
                              : fmt::format("timed out after {}", FormatDuration(Cmd().timeout));
  } else if (cause_ == StopCause::kKill) {
    end.state = TaskState::kKilled;
  } else if (usage.oom_kills > 0) {
    // Also when the script went on without the process that was ended, and with exit code 0.
    end.state = TaskState::kFailed;
    end.reason = fmt::format("out of memory: limit {}", FormatMemory(Cmd().resources.memory));
  }
  auto outputs = ReadOutputs(folder_.Output(), Cmd().masks);
  end.outputs = std::move(outputs.pairs);
  end.reason = JoinReasons(std::move(end.reason), outputs.problem);
  return end;
}

bool Shim::WriteExit(TaskEnd end) const {
  end.started = started_;
  end.ended = ended_;
  end.log = output_->Totals();
  return exit_->Write(std::move(end));
}

// What the task left behind lives on, and would be ended by its next line of output if nobody held
// the other end of its pipes.
void Shim::Linger() {
  while (process_ && process_->AnyLeft() && (process_->Out() || process_->Err())) {
    std::array<pollfd, 3> ready = {pollfd{process_->Out().Get(), POLLIN, 0},
                                   pollfd{process_->Err().Get(), POLLIN, 0},
                                   pollfd{signals_.Get(), POLLIN, 0}};
    ::poll(ready.data(), ready.size(), process_->MoreToReap() ? 0 : -1);
    for (const auto& signal : PendingSignals())
      if (signal.ssi_signo == SIGTERM) return;
    process_->Reap();
    if (ready[0].revents != 0 && ::read(ready[0].fd, buffer_.get(), kReadBytes) == 0)
      process_->CloseOut();
    if (ready[1].revents != 0 && ::read(ready[1].fd, buffer_.get(), kReadBytes) == 0)
      process_->CloseErr();
  }
}

}  // namespace

void DetachShim(int first_to_close) {
  ::prctl(PR_SET_NAME, "muster-shim");
  ::close_range(static_cast<unsigned>(first_to_close), ~0U, 0);
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE}) ::signal(number, SIG_IGN);
  ::umask(0077);
  [[maybe_unused]] const int moved = ::chdir("/");
}

int RunShim(const std::string& path) {
  const TaskFolder folder{path};
  const auto lock = TakeLock(folder);
  if (!lock) return 2;
  if (Exists(folder.Exit())) return 3;
  const auto bytes = ReadAll(lock->Get(), folder.Order());
  if (!bytes) return 4;
  auto record = ParseOrderRecord(*bytes);
  if (!record) return 5;
  return Shim(folder, std::move(record->order)).Run();
}

}  // namespace muster::agent
