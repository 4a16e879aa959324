#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "adapters/memory/memory_store.hpp"
#include "ports/forwarding_store.hpp"
#include "ports/log_store.hpp"
#include "sim/truth.hpp"
#include "sim/world.hpp"

namespace muster::sim {

// How ill the disk behaves just now.
struct DiskMood {
  double lost_answer = 0;  // written, but the answer never comes as such (kTimeout)
  double refused = 0;      // not written (kUnavailable)
  std::int64_t usual = 2;  // ms a commit takes
  std::int64_t rare = 400;
  double vanished = 0;  // not written, and nobody knows (kTimeout)
  double late = 0;      // kTimeout, and written seconds after that
  bool cut = false;     // nothing gets through
};

// A server's connection to the disk that all of a history's servers share. Commits take their time;
// what is on its way when the server dies may land late, or never.
class SimStore final : public ForwardingStore {
 public:
  SimStore(World& world, Truth& truth, std::shared_ptr<MemoryDisk> disk, const DiskMood& mood)
      : SimStore(world, truth, std::make_shared<MemoryStore>(std::move(disk)), mood) {}

  void Crash() { *alive_ = false; }
  // The store's machine has a wall clock of its own, so far ahead of true time.
  void HasClock(std::int64_t wall_offset) { wall_offset_ = wall_offset; }
  // Batches of all servers that hang in the store, and what follows behind them. Some get through
  // just when another server has taken its term, as whoever waited for the same row does.
  using Hanging = std::vector<std::function<void()>>;
  void SharesHanging(Hanging& hanging) { hanging_ = &hanging; }

  Result<Fence> TakeTerm() override;
  Result<Snapshot> Load(Term term) override;
  Result<std::optional<WallTime>> ReadClock() override;
  Result<ReadAt<std::vector<std::optional<TaskRecord>>>> FindTasks(
      const std::vector<TaskKey>& keys) override;
  void Commit(std::shared_ptr<const Batch> batch, Term term, CommitNumber number,
              CommitDone done) override;

 private:
  SimStore(World& world, Truth& truth, std::shared_ptr<MemoryStore> store, const DiskMood& mood)
      : ForwardingStore(*store),
        world_(world),
        truth_(truth),
        store_(std::move(store)),
        mood_(mood) {}

  static void Land(const std::shared_ptr<MemoryStore>& store, Truth& truth,
                   const std::shared_ptr<const Batch>& batch, Term term, CommitNumber number,
                   Result<>& written);

  World& world_;
  Truth& truth_;
  std::optional<std::int64_t> wall_offset_;
  Hanging* hanging_ = nullptr;
  std::shared_ptr<bool> hangs_ = std::make_shared<bool>(false);  // shared with commits on their way
  std::shared_ptr<MemoryStore> store_;                           // shared with commits on their way
  const DiskMood& mood_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // likewise
};

// The same for output: appends and finishes take turns, each with its delay.
class SimLogStore final : public LogStore {
 public:
  SimLogStore(World& world, std::shared_ptr<MemoryLogStore> disk, const DiskMood& mood)
      : world_(world), disk_(std::move(disk)), mood_(mood) {}

  void Crash() { *alive_ = false; }

  void Append(std::vector<LogChunk> chunks, Done done) override;
  Result<std::uint64_t> DurableEnd(const TaskKey& task) override { return disk_->DurableEnd(task); }
  void Finish(const TaskKey& task, LogTotals totals, MarkDone done) override;
  Result<std::vector<LogChunk>> Read(const TaskKey& task, std::uint64_t from,
                                     std::size_t limit) override {
    return disk_->Read(task, from, limit);
  }
  void DropDays(WallTime moment, DropDone done) override {
    disk_->DropDays(moment, std::move(done));
  }

 private:
  void Enqueue(std::function<void()> work);
  void Next();

  World& world_;
  std::shared_ptr<MemoryLogStore> disk_;  // survives the server, as a disk does
  const DiskMood& mood_;
  std::deque<std::function<void()>> queue_;
  bool busy_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster::sim
