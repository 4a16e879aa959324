#pragma once

#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/activity.hpp"
#include "base/mutex.hpp"
#include "ports/clock.hpp"
#include "ports/log_store.hpp"

namespace muster {

namespace sqlite {
class Checkpointer;
class Database;
class LogDays;
class OutputState;
class OutputStates;
class Statement;
}  // namespace sqlite

// Keeps output in folder/logs/YYYY-MM-DD.db, by the UTC day of this server's clock when it came.
// One thread writes; it joins the appends that wait into one transaction. Destroying it ends the
// write under way and answers kUnavailable to those behind it.
class SqliteLogStore final : public LogStore {
 public:
  // `clock` must outlive the store.
  static Result<std::unique_ptr<SqliteLogStore>> Open(const std::filesystem::path& folder,
                                                      const Clock& clock);
  ~SqliteLogStore() override;

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

  SqliteLogStore(const std::filesystem::path& folder, const Clock& clock);
  void Loop() EXCLUDES(queue_mutex_, state_mutex_);
  void Post(Job job) EXCLUDES(queue_mutex_);
  std::vector<Job> TakeGroup() REQUIRES(queue_mutex_);

  // The writing thread's own.
  void Work(std::vector<Job> group) EXCLUDES(state_mutex_);
  Result<> WriteGroup(const std::vector<Job>& group) EXCLUDES(state_mutex_);
  Result<> WriteChunk(const LogChunk& chunk) EXCLUDES(state_mutex_);
  Result<bool> WritePiece(const LogChunk& chunk, std::size_t at, std::size_t size);
  Result<> OpenToday();
  void CloseToday();
  void TakeIn(const AppendJob& job) EXCLUDES(state_mutex_);
  Result<> ReadBack(const TaskKey& task, sqlite::OutputState& state);
  Result<LogMark> Judge(const FinishJob& job) EXCLUDES(state_mutex_);
  Result<std::size_t> Drop(const DropJob& job) EXCLUDES(state_mutex_);

  const Clock& clock_;
  std::unique_ptr<sqlite::LogDays> days_;
  std::string today_;
  std::unique_ptr<sqlite::Checkpointer> checkpointer_;
  std::unique_ptr<sqlite::Database> database_;
  sqlite::Statement* put_chunk_ = nullptr;

  base::Mutex state_mutex_;
  std::unique_ptr<sqlite::OutputStates> states_ GUARDED_BY(state_mutex_);

  base::Activity activity_{"log-writer"};
  base::Mutex queue_mutex_;
  base::Condition work_;
  std::deque<Job> jobs_ GUARDED_BY(queue_mutex_);
  bool closing_ GUARDED_BY(queue_mutex_) = false;
  std::thread thread_;
};

}  // namespace muster
