#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "adapters/memory/memory_disk.hpp"
#include "adapters/memory/memory_log_store.hpp"
#include "adapters/memory/memory_store.hpp"
#include "checks/journal.hpp"
#include "domain/records.hpp"
#include "link/messages.hpp"
#include "sim/course_watch.hpp"
#include "sim/key_watch.hpp"
#include "sim/world.hpp"

namespace muster::sim {

// What really happened, known to nobody inside: every process that ever started, every answer that
// was given. The checkers of the promises compare it with the records.
class Truth {
 public:
  explicit Truth(World& world) : world_(world), courses_(world) {}

  struct Process {
    TaskKey task;
    std::string output;       // what it has said so far
    std::optional<int> exit;  // when it ended by itself
    bool killed = false;
    bool vanished = false;  // its machine lost power
  };

  // Promise 2 and the ledger: an attempt starts at most once, and of a task's attempts only one.
  // Promise 11: never past start_by, which is compared with the clock of the server that set it.
  // `alone`: the machine's disk has no copy, so that what it says is what is.
  void ProcessStarts(const link::Order& order, std::int64_t start_by_true_time, bool alone);
  // It runs no more. Or nothing can be promised of it any more: its machine's disk was copied.
  void ProcessEnds(const TaskKey& task) { keys_.Ends(task); }
  // The same for what the server does itself.
  void RequestMade(const TaskKey& task);

  // Notices: told only when they are kept, and each at least once.
  void NoticeLeaves(const TaskKey& task, const std::string& state) const;
  void NoticeTaken(const TaskKey& task) { told_.insert({task.run, task.visit}); }

  Process& At(const TaskKey& task) { return processes_.at(task); }
  const std::map<TaskKey, Process>& processes() const { return processes_; }

  // A line of a host's journal; `file` is that machine's own.
  void Wrote(checks::JournalEntry entry, const std::string& file) {
    journals_[file].push_back(std::move(entry));
  }

  // Promise 4: what was answered is on the disk, and stays.
  void StartAnswered(const std::string& key, RunId run, const Store& store);
  void StopAnswered(RunId run) { stopped_.insert(run); }

  // Promise 8: only legal transitions. Called with every batch that reaches the disk.
  void BatchWritten(const Batch& batch, Term term);

  // The records are those of a backup again. What was answered and committed after it is lost, and
  // nothing is asked of it any more; what really ran stays true.
  void Restored(Store& store);
  std::uint64_t Life() const { return life_; }  // of the records: grows with each restore

  // At the end of a history, when everything is up and quiet: promises 4, 6, 7, 8, 9 over all
  // records.
  void CheckEnd(Store& store, LogStore& logs);

  const std::set<RunId>& stopped() const { return stopped_; }
  CourseWatch& courses() { return courses_; }
  std::size_t Runs() const { return answered_.size(); }

 private:
  std::string OpenVisits(Store& store, RunId run);
  void CheckTask(const TaskRecord& record, LogStore& logs);
  void CheckLog(const TaskRecord& record, LogStore& logs);

  World& world_;
  std::map<TaskKey, Process> processes_;
  void CheckRecords(Store& store);
  void CheckContext(const link::Order& order) const;
  void VisitWritten(const PutVisit& put);
  void RunWritten(const Run& run);
  void NoticesWritten(const Batch& batch);
  Run WithPlan(Run row) const;
  bool WasTold(const OpenNotice& notice) const;
  void CheckNotices(Store& store) const;
  void TaskBorn(const TaskRecord& task, Term term);

  // Last attempt that ran, of each task.
  std::map<std::tuple<RunId, Visit, std::uint32_t>, TaskKey> started_;
  std::map<std::pair<RunId, Visit>, StageVisit> visits_;
  std::set<TaskKey> requests_;
  std::map<std::string, std::vector<checks::JournalEntry>> journals_;
  KeyWatch keys_;
  CourseWatch courses_;
  std::map<std::pair<RunId, Visit>, OpenNotice> notices_;  // that were ever kept
  std::set<std::pair<RunId, Visit>> told_;
  std::map<std::string, RunId> answered_;
  std::set<RunId> stopped_;
  std::set<RunId> stop_committed_;
  std::map<MemoryDisk::TaskPlace, TaskRecord> tasks_;
  std::map<RunId, Run> runs_;  // with their plans
  std::map<RunId, std::shared_ptr<const RunSpec>> plans_;
  std::set<RunId> open_in_backup_;
  std::uint64_t life_ = 0;
  Term first_of_life_;  // orders of lower terms were sent before the restore
};

}  // namespace muster::sim
