#pragma once

#include <deque>
#include <memory>
#include <thread>
#include <variant>
#include <vector>

#include "base/activity.hpp"
#include "base/mutex.hpp"
#include "ports/clock.hpp"
#include "ports/log_store.hpp"

namespace muster {

namespace logs {
class LogDays;
class OutputState;
class OutputStates;
class RowWriter;
}  // namespace logs

// A log store over places of a day each (logs/log_days.hpp): output goes to that of the UTC day on
// this server's clock when it came. One thread writes; it joins the appends that wait into one
// transaction, and small chunks that follow each other into one row (open_row.hpp), also with those
// of the transaction before. What it remembers of tasks may be too little, as other servers may
// write too, but never too much. Destroying it ends the write under way and answers kUnavailable to
// those behind it.
class DayLogStore : public LogStore {
 public:
  // `clock` must outlive the store.
  DayLogStore(std::unique_ptr<logs::LogDays> days, const Clock& clock);
  ~DayLogStore() override;

  // What its thread does now.
  base::Activity::View Look() EXCLUDES(queue_mutex_);

  void Append(std::vector<LogChunk> chunks, Done done) override;
  Result<std::uint64_t> DurableEnd(const TaskKey& task) override;
  void Finish(const TaskKey& task, LogTotals totals, MarkDone done) override;
  Result<std::vector<LogChunk>> Read(const TaskKey& task, std::uint64_t from,
                                     std::size_t limit) override;
  void DropDays(WallTime moment, DropDone done) override;

 private:
  struct AppendJob {
    std::vector<LogChunk> chunks;
    Done done;
  };
  struct FinishJob {
    TaskKey task;
    LogTotals totals;
    MarkDone done;
  };
  struct DropJob {
    WallTime moment;
    DropDone done;
  };
  using Job = std::variant<AppendJob, FinishJob, DropJob>;

  void Loop() EXCLUDES(queue_mutex_, state_mutex_);
  void Post(Job job) EXCLUDES(queue_mutex_);
  std::vector<Job> TakeGroup() REQUIRES(queue_mutex_);

  // The writing thread's own.
  void Work(std::vector<Job> group) EXCLUDES(state_mutex_);
  Result<> WriteGroup(const std::vector<Job>& group) EXCLUDES(state_mutex_);
  // Adds what memory does not know to be durable.
  void Cut(const LogChunk& chunk, logs::RowWriter& rows) EXCLUDES(state_mutex_);
  void MarkKnown(const logs::RowWriter& rows, const std::vector<bool>& added)
      EXCLUDES(state_mutex_);
  void Forget() EXCLUDES(state_mutex_);
  void TakeIn(const AppendJob& job) EXCLUDES(state_mutex_);
  void GoOn(const TaskKey& task) EXCLUDES(state_mutex_);
  Result<> ReadBack(const TaskKey& task, logs::OutputState& state);
  Result<LogMark> Judge(const FinishJob& job) EXCLUDES(state_mutex_);
  Result<std::size_t> Drop(const DropJob& job) EXCLUDES(state_mutex_);

  const Clock& clock_;
  const std::unique_ptr<logs::LogDays> days_;

  base::Mutex state_mutex_;
  std::unique_ptr<logs::OutputStates> states_ GUARDED_BY(state_mutex_);

  base::Activity activity_{"log-writer"};
  base::Mutex queue_mutex_;
  base::Condition work_;
  std::deque<Job> jobs_ GUARDED_BY(queue_mutex_);
  bool closing_ GUARDED_BY(queue_mutex_) = false;
  std::thread thread_;
};

}  // namespace muster
