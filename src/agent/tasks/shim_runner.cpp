#include "agent/tasks/shim_runner.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <filesystem>
#include <set>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "agent/host/clocks.hpp"
#include "agent/shim/exec_shim.hpp"
#include "agent/shim/launch.hpp"
#include "agent/shim/reboot.hpp"
#include "agent/shim/shim_lock.hpp"
#include "base/text.hpp"

namespace muster::agent {
namespace {

constexpr Duration kSweepEvery = std::chrono::seconds(1);
constexpr Duration kTidyEvery = std::chrono::minutes(10);
constexpr Duration kRestartSlack = std::chrono::seconds(10);  // a shim ends its task first

constexpr const char* kRebooted = "the host rebooted";
constexpr const char* kOrderLost =
    "its order cannot be read: the host lost power, or its disk is damaged";
constexpr const char* kShimKilled =
    "the process that watches the command was killed; the command may still run there";
constexpr const char* kShimFailed = "the shim ended before the task started; is the disk full?";
constexpr const char* kNeverStarted = "the agent stopped before the task started";

WallTime ModifiedAt(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return {};
  return WallTime{status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1'000'000};
}

Result<TaskEnd> ReadEnd(const TaskKey& task, const std::string& path) {
  const auto bytes = ReadFile(path);
  if (!bytes) return Fail(bytes.error());
  return ParseExitRecord(task, *bytes);
}

// A power loss may bring back what a folder that was used before held then.
Result<OrderRecord> ReadOrder(const TaskKey& task, const Result<std::string>& bytes) {
  if (!bytes) return Fail(bytes.error());
  auto record = ParseOrderRecord(*bytes);
  if (record && record->order.task != task)
    return Fail(ErrorCode::kInvalid, "the order is of another task, {}",
                FormatTaskKey(record->order.task));
  return record;
}

// A restart by the system's own way is the agent's doing and not a process of anybody's: it needs
// no user that tasks may run as.
Result<std::string> UserFor(const RunAsPolicy& policy, const Command& command) {
  if (command.reboot && command.reboot->argv.empty()) {
    if (!policy.restarts)
      return Fail(ErrorCode::kDenied,
                  "this host refuses restarts by jobs (run_as.restarts in its agent.yaml)");
    if (command.user.empty()) return "";
  }
  return ChooseTaskUser(policy, command);
}

MonoTime RestartBy(const Command& command, Duration since_start) {
  if (command.timeout == Duration::zero()) return kNever;
  const Duration left =
      command.timeout - std::clamp(since_start, Duration::zero(), command.timeout);
  return BootNow() + left + command.grace + kRestartSlack;
}

bool HoldsSecret(const Command& command) {
  return !command.secrets.empty() || !command.masks.empty();
}

}  // namespace

ShimRunner::ShimRunner(ShimRunnerOptions options, Events events)
    : options_(std::move(options)), events_(std::move(events)) {}

ShimRunner::~ShimRunner() = default;

Result<std::vector<ProcessRunner::Held>> ShimRunner::Recover() {
  std::error_code problem;
  // Shims leave our working folder, so they need the whole path.
  const auto data = std::filesystem::absolute(options_.data, problem);
  tasks_folder_ = (data / "tasks").string();
  // Others may pass through, to reach a script they own, but not look around.
  if (auto made = MakeFolders(tasks_folder_, 0711); !made) return Fail(made.error());
  const auto boot = ReadFile(options_.boot_id_file);
  if (!boot) return Fail(boot.error());
  // A copy of the folder on the same machine and boot is still another memory: its place on disk
  // differs.
  struct stat place{};
  if (::stat(tasks_folder_.c_str(), &place) != 0)
    return Fail(ErrorCode::kUnavailable, "{}: {}", tasks_folder_, ErrnoText(errno));
  boot_ = fmt::format("{}-{:x}-{:x}", Trim(*boot), place.st_dev, place.st_ino);
  inotify_ = Fd(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!inotify_)
    return Fail(ErrorCode::kUnavailable, "inotify: {}; see fs.inotify.max_user_instances",
                ErrnoText(errno));
  if (auto opened = spares_.Open((data / "spare").string()); !opened) return Fail(opened.error());
  std::vector<Held> held;
  for (const auto& item : std::filesystem::directory_iterator(tasks_folder_, problem))
    if (const auto task = ParseFolderName(item.path().filename().string()))
      held.push_back(RecoverTask(*task, Add(*task, item.path().string())));
  if (problem)
    return Fail(ErrorCode::kUnavailable, "read {}: {}", tasks_folder_, problem.message());
  TidyGroups();
  return held;
}

ProcessRunner::Held ShimRunner::RecoverTask(const TaskKey& task, Entry& entry) {
  const auto order_bytes = ReadFile(entry.folder.Order());
  const auto order = ReadOrder(task, order_bytes);
  entry.order_bytes = order_bytes ? order_bytes->size() : 0;
  entry.single_use = true;  // nobody knows any more what the agent before saw of it
  const bool same_boot = order && order->boot == boot_;
  const bool restarts = order && order->order.command->reboot;
  entry.restarted = restarts && KernelBoot(order->boot) != KernelBoot(boot_);
  if (restarts && same_boot) {
    const Command& command = *order->order.command;
    entry.restart_within = command.timeout;
    entry.restart_by =
        RestartBy(command, Duration(WallNow().ms - ModifiedAt(entry.folder.Order()).ms));
  }
  // Watched first: what happens from here on is news.
  Watch(task, entry);
  Held held;
  held.task.task = task;
  held.task.state = link::HeldState::kEnded;
  if (auto end = ReadEnd(task, entry.folder.Exit())) {
    held.task.end = CheckedEnd(entry, std::move(*end), same_boot);
  } else if (MayYetRestart(entry)) {
    held.task.state = link::HeldState::kRunning;
  } else if (entry.restarted) {
    // If it fails, the next sweep tries again.
    if (auto settled = Settle(entry, kBackAfterRestart, TaskState::kSucceeded))
      held.task.end = CheckedEnd(entry, std::move(*settled), same_boot);
    else
      held.task.state = link::HeldState::kRunning;
  } else {
    const bool may_have_started = Exists(entry.folder.NewExit());
    const char* reason = !order             ? kOrderLost
                         : !same_boot       ? kRebooted
                         : may_have_started ? kShimKilled
                                            : kNeverStarted;
    const auto state = same_boot ? std::optional<TaskState>() : TaskState::kLost;
    if (auto settled = Settle(entry, reason, state))
      held.task.end = CheckedEnd(entry, std::move(*settled), same_boot);
    else
      held.task.state = link::HeldState::kRunning;
  }
  if (held.task.state == link::HeldState::kRunning && order &&
      order->order.command->resources.Any()) {
    // Again: a service manager that takes its controllers back between two agents drops the limits.
    static_cast<void>(Limit(entry, task, order->order.command->resources));
  }
  Remember(entry, held.task.end ? &*held.task.end : nullptr);
  held.spooled = entry.spooled;
  return held;
}

// A power loss may have kept the exit record and lost some of the spool.
TaskEnd ShimRunner::CheckedEnd(Entry& entry, TaskEnd end, bool same_boot) const {
  if (same_boot || entry.spool.Advance() == end.log->bytes) return end;
  if (auto totals = entry.spool.Measure()) {
    totals->dropped = end.log->dropped;
    totals->gap = true;
    end.log = std::move(*totals);
  }
  return end;
}

ShimRunner::Entry* ShimRunner::Find(const TaskKey& task) {
  const auto found = tasks_.find(task);
  return found == tasks_.end() ? nullptr : found->second.get();
}

ShimRunner::Entry& ShimRunner::Add(const TaskKey& task, std::string path) {
  TaskFolder folder{std::move(path)};
  SpoolReader spool(folder.Spool());
  auto entry = std::make_unique<Entry>(
      Entry{.task = task, .folder = std::move(folder), .spool = std::move(spool)});
  return *(tasks_[task] = std::move(entry));
}

Result<> ShimRunner::CheckRoom() const {
  if (bytes_ >= options_.max_spool)
    return Fail(ErrorCode::kUnavailable,
                "the spool holds {} that the server has not fetched; the limit is {}",
                FormatSize(bytes_), FormatSize(options_.max_spool));
  if (DiskIsLow(tasks_folder_, options_.min_free_percent))
    return Fail(ErrorCode::kUnavailable, "less than {} % of the disk that holds {} is free",
                options_.min_free_percent, tasks_folder_);
  return {};
}

Result<> ShimRunner::Start(const link::Order& order) {
  if (Find(order.task) != nullptr)
    return Fail(ErrorCode::kConflict, "task {} is known already", FormatTaskKey(order.task));
  if (!order.command) return Fail(ErrorCode::kInvalid, "the order has no command");
  if (auto checked = CheckCommand(*order.command); !checked) return checked;
  auto user = UserFor(options_.run_as, *order.command);
  if (!user) return Fail(user.error());
  if (auto room = CheckRoom(); !room) return room;
  const Resources& limits = order.command->resources;
  if (auto can = options_.cgroups.GroupOf("", limits); !can) return Fail(can.error());

  link::Order settled = order;
  if (*user != order.command->user) {
    Command command = *order.command;
    command.user = *user;
    settled.command = std::make_shared<const Command>(std::move(command));
  }
  const std::string path = tasks_folder_ + "/" + FolderName(order.task);
  const std::string record = EncodeOrderRecord(boot_, settled);
  Result<> started = spares_.Make(path, record);
  if (!started) return started;
  Entry& entry = Add(order.task, path);
  entry.single_use = HoldsSecret(*order.command);
  if (order.command->reboot) {
    entry.restart_within = order.command->timeout;
    entry.restart_by = RestartBy(*order.command, Duration::zero());
    started = MakeDurable(entry);
  }
  if (started && limits.Any()) started = Limit(entry, order.task, limits);
  if (started) {
    Watch(order.task, entry);
    started = Spawn(entry);
  }
  if (!started) {
    Unwatch(entry);
    entry.group.Remove();
    spares_.Remove(path, !entry.single_use);
    tasks_.erase(order.task);
    return Fail(ErrorCode::kUnavailable, "{}", started.error().message);
  }
  entry.order_bytes = record.size();
  Count(entry);
  return {};
}

// The order of a task that restarts the machine must be there afterwards.
Result<> ShimRunner::MakeDurable(const Entry& entry) const {
  for (const auto& path : {entry.folder.Order(), entry.folder.path, tasks_folder_, options_.data})
    if (auto synced = Sync(path); !synced) return synced;
  return {};
}

Result<> ShimRunner::Limit(Entry& entry, const TaskKey& task, const Resources& limits) const {
  auto group = options_.cgroups.GroupOf(FolderName(task), limits);
  if (!group) return Fail(group.error());
  if (auto made = group->Make(limits); !made) return made;
  entry.group = std::move(*group);
  return WriteFile(entry.folder.Cgroup(), entry.group.Encode());
}

// A group outlives its shim when the task left processes behind.
void ShimRunner::TidyGroups() const {
  std::set<std::string> held;
  for (const auto& [task, entry] : tasks_)
    if (!entry->ended) held.insert(FolderName(task));
  options_.cgroups.Tidy(held);
}

Result<> ShimRunner::Spawn(Entry& entry) const {
  bool may_live = false;
  if (options_.spawner != nullptr && *options_.spawner) {
    const auto pid = options_.spawner->Spawn(entry.folder.path);
    if (pid) {
      entry.child = *pid;
      return {};
    }
    may_live = pid.error().code == ErrorCode::kTimeout;
  }
  const int error = ExecShim(entry.child, options_.executable, entry.folder.path);
  // When one may live all the same, the sweep finds out by its lock.
  if (error != 0 && !may_live)
    return Fail(ErrorCode::kUnavailable, "start {}: {}", options_.executable, ErrnoText(error));
  return {};
}

void ShimRunner::Watch(const TaskKey& task, Entry& entry) {
  // A host that is out of watches still works: the sweep finds the news, a little later.
  entry.watch = ::inotify_add_watch(inotify_.Get(), entry.folder.path.c_str(),
                                    IN_MODIFY | IN_MOVED_TO | IN_ONLYDIR);
  if (entry.watch >= 0) watched_[entry.watch] = task;
}

void ShimRunner::Unwatch(Entry& entry) {
  if (entry.watch < 0) return;
  ::inotify_rm_watch(inotify_.Get(), entry.watch);
  watched_.erase(entry.watch);
  entry.watch = -1;
}

void ShimRunner::Kill(const TaskKey& task, Duration grace) {
  Entry* entry = Find(task);
  if (entry == nullptr || entry->ended) return;
  // One that ended unnoticed as yet: its shim may have another task by now.
  if (ReadEnd(task, entry->folder.Exit())) return;
  // The wish is on disk first: a shim that is only starting finds it there. On a full disk it goes
  // with the signal alone: what fills the disk must be stoppable.
  static_cast<void>(ReplaceFile(entry->folder.Kill(), EncodeKillWish(grace)));
  const ProcessHandle shim = HoldShim(entry->folder, entry->child);
  shim.Queue(SIGUSR1, static_cast<int>(std::clamp<std::int64_t>(grace.count(), 0, INT_MAX)));
  shim.Signal(SIGCONT);  // somebody may have stopped it
}

Result<std::vector<LogChunk>> ShimRunner::Read(const TaskKey& task, std::uint64_t from,
                                               std::size_t limit) {
  Entry* entry = Find(task);
  if (entry == nullptr)
    return Fail(ErrorCode::kNotFound, "task {} is not held here", FormatTaskKey(task));
  auto chunks = entry->spool.Read(from, limit);
  if (chunks)
    for (auto& chunk : *chunks) chunk.task = task;
  return chunks;
}

void ShimRunner::Forget(const TaskKey& task) {
  Entry* entry = Find(task);
  if (entry == nullptr || !entry->ended) return;
  spares_.Remove(entry->folder.path, !entry->single_use);
  bytes_ -= entry->disk_bytes;
  tasks_.erase(task);
}

void ShimRunner::Poll() {
  for (const auto& task : TakeNews()) Check(task);
  if (const MonoTime now = BootNow(); now >= next_sweep_) {
    next_sweep_ = now + kSweepEvery;
    Sweep();
    if (now >= next_tidy_) {
      next_tidy_ = now + kTidyEvery;
      TidyGroups();
    }
  }
}

std::vector<TaskKey> ShimRunner::TakeNews() {
  std::set<int> watches;
  bool overflow = false;
  alignas(inotify_event) std::array<char, 16384> buffer{};
  for (;;) {
    const ssize_t got = ::read(inotify_.Get(), buffer.data(), buffer.size());
    if (got <= 0) break;
    for (ssize_t at = 0; at < got;) {
      const auto* event = reinterpret_cast<const inotify_event*>(&buffer[static_cast<size_t>(at)]);
      overflow = overflow || (event->mask & IN_Q_OVERFLOW) != 0;
      const std::string_view name = event->len > 0 ? event->name : "";
      if (name == "exit" || name == "out") watches.insert(event->wd);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
  }
  std::vector<TaskKey> tasks;
  if (overflow) {
    for (const auto& [watch, task] : watched_) tasks.push_back(task);
    return tasks;
  }
  for (const int watch : watches)
    if (const auto found = watched_.find(watch); found != watched_.end())
      tasks.push_back(found->second);
  return tasks;
}

// The exit record is looked for first: once it is there, the spool is complete.
void ShimRunner::Check(const TaskKey& task) {
  Entry* entry = Find(task);
  if (entry == nullptr || entry->ended) return;
  const auto end = ReadEnd(task, entry->folder.Exit());
  const std::uint64_t before = entry->spooled;
  Remember(*entry, end ? &*end : nullptr);
  if (entry->spooled > before && events_.on_output) {
    events_.on_output(task, entry->spooled);
    entry = Find(task);
  }
  if (end && entry != nullptr && events_.on_end) events_.on_end(task, *end);
}

// Brings the entry up to what is on disk.
void ShimRunner::Remember(Entry& entry, const TaskEnd* end) {
  entry.spooled = entry.spool.Advance();
  Count(entry);
  if (end == nullptr) return;
  entry.ended = true;
  if (end->leftovers) entry.single_use = true;
  Unwatch(entry);
  if (entry.child > 0) to_reap_.insert(std::exchange(entry.child, 0));
}

void ShimRunner::Count(Entry& entry) {
  bytes_ -= entry.disk_bytes;
  entry.disk_bytes = entry.order_bytes + entry.spool.FileBytes();
  bytes_ += entry.disk_bytes;
}

void ShimRunner::Sweep() {
  std::erase_if(to_reap_, [](pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG) != 0; });
  std::vector<TaskKey> running;
  for (const auto& [task, entry] : tasks_)
    if (!entry->ended) running.push_back(task);
  for (const auto& task : running) {
    Entry* entry = Find(task);
    if (entry == nullptr || entry->ended) continue;
    // If it fails, the next sweep tries again.
    if (ShimIsGone(*entry) && !MayYetRestart(*entry)) static_cast<void>(SettleGone(*entry));
    Check(task);
  }
}

bool ShimRunner::ShimIsGone(Entry& entry) {
  if (entry.child <= 0) return !LockHolder(entry.folder);
  if (::waitpid(entry.child, nullptr, WNOHANG) == 0) return false;
  entry.child = 0;
  return true;
}

// A machine that goes down ends our shims, and perhaps before us: while a restart may come, a task
// that asked for it is not lost.
bool ShimRunner::MayYetRestart(const Entry& entry) const {
  return entry.restart_by.ms != 0 && BootNow() < entry.restart_by &&
         Exists(entry.folder.NewExit()) && !Exists(entry.folder.Kill());
}

Result<TaskEnd> ShimRunner::SettleGone(Entry& entry) {
  if (entry.restarted) return Settle(entry, kBackAfterRestart, TaskState::kSucceeded);
  const bool started = Exists(entry.folder.NewExit());
  if (!started || entry.restart_by.ms == 0)
    return Settle(entry, started ? kShimKilled : kShimFailed);
  if (Exists(entry.folder.Kill()))
    return Settle(entry, "stopped after it asked for a restart", TaskState::kKilled);
  return Settle(entry, NoRestartWithin(entry.restart_within), TaskState::kTimedOut);
}

// Ends a task in the place of its shim: kLost unless `state` says otherwise, with what the spool
// holds. Fails when a shim lives, and from then on none can start. When a shim wrote its own end
// meanwhile, that one is returned.
Result<TaskEnd> ShimRunner::Settle(Entry& entry, std::string reason,
                                   std::optional<TaskState> state) {
  const auto lock = TakeLock(entry.folder);
  if (!lock) return Fail(lock.error());
  if (auto end = ReadEnd(entry.task, entry.folder.Exit())) return end;
  const bool started = Exists(entry.folder.NewExit());
  if (started) entry.single_use = true;
  entry.spool.Advance();
  if (::truncate(entry.folder.Spool().c_str(), static_cast<off_t>(entry.spool.FileBytes())) != 0 &&
      errno != ENOENT)
    return Fail(ErrorCode::kUnavailable, "truncate {}: {}", entry.folder.Spool(), ErrnoText(errno));
  auto totals = entry.spool.Measure();
  if (!totals) return Fail(totals.error());
  totals->gap = started;
  // A shim that was to see the restart left proof of the output.
  if (auto kept = ReadEnd(entry.task, entry.folder.Restart());
      kept && kept->log->bytes == totals->bytes)
    totals = std::move(*kept->log);
  TaskEnd end;
  // With the lock in hand and the end written, no shim can start any more; and none has.
  end.state = state                   ? *state
              : started               ? TaskState::kLost
              : reason == kShimFailed ? TaskState::kRefused
                                      : TaskState::kSkipped;
  end.reason = std::move(reason);
  end.started = ModifiedAt(entry.folder.Order());
  end.ended = WallNow();
  end.log = std::move(*totals);
  // Not by way of `exit.new`, which says that the task may have started.
  if (auto wrote = WriteFile(entry.folder.Settled(), EncodeExitRecord(entry.task, end)); !wrote)
    return Fail(wrote.error());
  if (::rename(entry.folder.Settled().c_str(), entry.folder.Exit().c_str()) != 0)
    return Fail(ErrorCode::kUnavailable, "rename {}: {}", entry.folder.Settled(), ErrnoText(errno));
  return end;
}

}  // namespace muster::agent
