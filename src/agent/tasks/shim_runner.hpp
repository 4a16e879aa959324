#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/files.hpp"
#include "agent/host/cgroups.hpp"
#include "agent/shim/account.hpp"
#include "agent/tasks/spare_folders.hpp"
#include "agent/tasks/spawner.hpp"
#include "agent/tasks/spool_reader.hpp"
#include "agent/tasks/task_folder.hpp"
#include "base/instant.hpp"
#include "ports/process_runner.hpp"

namespace muster::agent {

struct ShimRunnerOptions {
  std::string data;                           // tasks live in data/tasks
  std::string executable = "/proc/self/exe";  // started as `… shim FOLDER` without a spawner
  Spawner* spawner = nullptr;                 // outlives the runner
  RunAsPolicy run_as;
  Cgroups cgroups = Cgroups::None("not looked for");  // for tasks with limits
  std::string boot_id_file = "/proc/sys/kernel/random/boot_id";
  std::uint64_t max_spool = 1ULL << 30;  // of all tasks together; past it nothing new starts
  unsigned min_free_percent = 5;         // of the disk; below it nothing new starts
};

// Runs each task under a shim of its own, a small process that outlives this one. Callbacks may
// call the runner.
class ShimRunner final : public ProcessRunner {
 public:
  ShimRunner(ShimRunnerOptions options, Events events);
  ~ShimRunner() override;  // the tasks go on

  Result<std::vector<Held>> Recover() override;
  Result<> Start(const link::Order& order) override;
  void Kill(const TaskKey& task, Duration grace) override;
  Result<std::vector<LogChunk>> Read(const TaskKey& task, std::uint64_t from,
                                     std::size_t limit) override;
  void Forget(const TaskKey& task) override;

  // For tasks that start from now on.
  void Configure(RunAsPolicy run_as, std::uint64_t max_spool) {
    options_.run_as = std::move(run_as);
    options_.max_spool = max_spool;
  }

  // Readable when Poll has something to do; valid after Recover.
  int Descriptor() const noexcept { return inotify_.Get(); }

  // Looks for news and calls back. To be called when the descriptor is readable, and about every
  // second besides: that finds shims that were killed, and whatever a notification was lost for.
  void Poll();

  // The kernel's boot id, and where on disk the tasks are: what a copied folder cannot share.
  const std::string& Boot() const noexcept { return boot_; }  // after Recover

 private:
  struct Entry {
    TaskKey task;
    TaskFolder folder;
    SpoolReader spool;
    std::uint64_t disk_bytes = 0;  // order and spool, as counted in bytes_
    std::uint64_t order_bytes = 0;
    std::uint64_t spooled = 0;  // bytes of output, as last told
    pid_t child = 0;            // the shim, when it is a child of ours that was not waited for
    int watch = -1;
    bool ended = false;
    bool single_use = false;    // its folder: the order holds a secret that must not outlive it, or
                                // processes may live on that have files of it open
    TaskGroup group;            // of a task with limits
    Duration restart_within{};  // of a task that restarts the host: its timeout, and until when
    MonoTime restart_by;        // the agent waits for that when its shim is gone
    bool restarted = false;     // and the host did so before this agent began
  };

  Entry* Find(const TaskKey& task);
  Entry& Add(const TaskKey& task, std::string path);
  Result<> MakeDurable(const Entry& entry) const;
  Held RecoverTask(const TaskKey& task, Entry& entry);
  TaskEnd CheckedEnd(Entry& entry, TaskEnd end, bool same_boot) const;

  Result<> CheckRoom() const;
  Result<> Limit(Entry& entry, const TaskKey& task, const Resources& limits) const;
  void TidyGroups() const;
  Result<> Spawn(Entry& entry) const;
  void Watch(const TaskKey& task, Entry& entry);
  void Unwatch(Entry& entry);

  std::vector<TaskKey> TakeNews();
  void Check(const TaskKey& task);
  void Sweep();
  bool ShimIsGone(Entry& entry);
  Result<TaskEnd> Settle(Entry& entry, std::string reason, std::optional<TaskState> state = {});
  bool MayYetRestart(const Entry& entry) const;
  Result<TaskEnd> SettleGone(Entry& entry);
  void Remember(Entry& entry, const TaskEnd* end);
  void Count(Entry& entry);

  ShimRunnerOptions options_;
  Events events_;
  std::string tasks_folder_;
  std::string boot_;
  SpareFolders spares_;
  Fd inotify_;
  // Behind pointers: a callback may start tasks while an entry is in use.
  std::unordered_map<TaskKey, std::unique_ptr<Entry>> tasks_;
  std::unordered_map<int, TaskKey> watched_;
  std::set<pid_t> to_reap_;  // shims of ended tasks
  MonoTime next_sweep_;
  MonoTime next_tidy_;
  std::uint64_t bytes_ = 0;  // of all orders and spools, nearly
};

}  // namespace muster::agent
