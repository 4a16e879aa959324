#include "sim/truth.hpp"

namespace muster::sim {

void Truth::ProcessStarts(const TaskKey& task, std::int64_t start_by_true_time) {
  if (processes_.contains(task)) throw Violation("attempt " + FormatTaskKey(task) + " ran twice");
  const auto [first, fresh] = started_.try_emplace({task.run, task.ordinal}, task);
  if (!fresh)
    throw Violation("task ran twice: as " + FormatTaskKey(first->second) + " and as " +
                    FormatTaskKey(task));
  if (world_.Now() > start_by_true_time)
    throw Violation(fmt::format("attempt {} started {} ms after its start_by", FormatTaskKey(task),
                                world_.Now() - start_by_true_time));
  processes_[task].task = task;
}

void Truth::StartAnswered(const std::string& key, RunId run, const Store& store) {
  const auto known = answered_.find(key);
  if (known != answered_.end() && known->second != run)
    throw Violation("key " + key + " was answered with " + FormatRunId(known->second) +
                    " and with " + FormatRunId(run));
  answered_[key] = run;
  const auto found = const_cast<Store&>(store).FindRun(run);
  if (!found || !found->value)
    throw Violation("run " + FormatRunId(run) + " was answered but is not on disk");
}

void Truth::BatchWritten(const Batch& batch, Term term) {
  for (const auto& change : batch.changes) {
    if (const auto* put = std::get_if<PutTask>(&change)) {
      const TaskRecord& next = put->task;
      const auto place = MemoryDisk::PlaceOf(next.key);
      const auto before = tasks_.find(place);
      if (before == tasks_.end()) {
        const bool born =
            next.state == TaskState::kSent || VerdictOf(next.state) == Verdict::kDidNotRun ||
            (next.state == TaskState::kLost && open_in_backup_.contains(next.key.run));
        if (!born)
          throw Violation("task " + FormatTaskKey(next.key) + " appeared as " +
                          std::string(Name(next.state)));
        if (next.state == TaskState::kSent && stop_committed_.contains(next.key.run))
          throw Violation("task " + FormatTaskKey(next.key) +
                          " was dispatched after the stop of its run was committed");
        if (next.state == TaskState::kSent && next.sent_term != term)
          throw Violation("row of another term");
      } else {
        const TaskState from = before->second.state;
        if (IsFinal(from) && from != next.state)
          throw Violation(fmt::format("task {} left its end state {} for {}",
                                      FormatTaskKey(next.key), Name(from), Name(next.state)));
        const LogState log = before->second.log.state;
        if (IsFinal(from) && log != LogState::kOpen && log != LogState::kGap &&
            log != next.log.state)
          throw Violation("the final mark of " + FormatTaskKey(next.key) + " changed");
      }
      tasks_[place] = next;
    } else if (const auto* run = std::get_if<PutRun>(&change)) {
      const auto before = runs_.find(run->run.id);
      if (before != runs_.end() && IsFinal(before->second))
        throw Violation("run " + FormatRunId(run->run.id) + " was written after its end");
      runs_[run->run.id] = run->run.state;
      if (run->run.stop) stop_committed_.insert(run->run.id);
    }
  }
}

void Truth::Restored(Store& store) {
  ++life_;
  tasks_.clear();
  runs_.clear();
  stop_committed_.clear();
  std::erase_if(answered_, [&](const auto& item) { return !store.FindRun(item.second)->value; });
  const auto runs = *store.ListRuns({}, {}, 1'000'000);
  for (const auto& run : runs) {
    runs_[run.id] = run.state;
    if (run.stop) stop_committed_.insert(run.id);
    if (!IsFinal(run.state)) open_in_backup_.insert(run.id);
    TaskFilter every;
    every.last_attempt_only = false;
    for (const auto& task : *store.ListTasks(run.id, every, {}, 1'000'000))
      tasks_[MemoryDisk::PlaceOf(task.key)] = task;
  }
  std::erase_if(stopped_, [&](RunId run) { return !stop_committed_.contains(run); });
}

void Truth::CheckLog(const TaskRecord& record, LogStore& logs) {
  if (record.log.state == LogState::kOpen)
    throw Violation("the output of " + FormatTaskKey(record.key) + " never became final");
  if (record.log.state != LogState::kComplete) return;
  const auto process = processes_.find(record.key);
  const std::string said = process == processes_.end() ? "" : process->second.output;
  std::string kept;
  const auto chunks = logs.Read(record.key, 0, said.size() + 1000);
  if (chunks)
    for (const auto& chunk : *chunks) kept += chunk.data;
  if (kept != said)
    throw Violation(
        fmt::format("the output of {} is called complete, but {} bytes were said and {} are kept",
                    FormatTaskKey(record.key), said.size(), kept.size()));
}

void Truth::CheckTask(const TaskRecord& record, LogStore& logs) {
  if (!IsFinal(record.state))
    throw Violation("task " + FormatTaskKey(record.key) +
                    " never ended: " + std::string(Name(record.state)));
  const auto process = processes_.find(record.key);
  const bool ran = process != processes_.end();
  switch (VerdictOf(record.state)) {
    case Verdict::kDidNotRun:
      if (ran)
        throw Violation("task " + FormatTaskKey(record.key) + " is called " +
                        std::string(Name(record.state)) + ", but it ran");
      break;
    case Verdict::kRan:
      if (!ran)
        throw Violation("task " + FormatTaskKey(record.key) + " is called " +
                        std::string(Name(record.state)) + ", but it never ran");
      if (record.state == TaskState::kSucceeded && process->second.exit != 0)
        throw Violation("task " + FormatTaskKey(record.key) +
                        " is called succeeded, but it did not exit with 0");
      if (record.state == TaskState::kKilled && !process->second.killed)
        throw Violation("task " + FormatTaskKey(record.key) +
                        " is called killed, but nobody killed it");
      break;
    case Verdict::kUnknown:
      break;
  }
  CheckLog(record, logs);
}

void Truth::CheckEnd(Store& store, LogStore& logs) {
  for (const auto& [key, id] : answered_) {
    const auto run = store.FindRun(id);
    if (!run || !run->value)
      throw Violation("run " + FormatRunId(id) + " was answered and is gone");
    if (!IsFinal(run->value->state)) throw Violation("run " + FormatRunId(id) + " never ended");
    if (stopped_.contains(id) && run->value->state != RunState::kCancelled)
      throw Violation("run " + FormatRunId(id) + " was stopped and ended as " +
                      std::string(Name(run->value->state)));
    TaskCounts counts;
    std::optional<TaskKey> after;
    TaskFilter filter;
    filter.last_attempt_only = false;
    const auto rows = store.ListTasks(id, filter, after, 1'000'000);
    std::map<std::uint32_t, TaskState> last;
    for (const auto& row : *rows) {
      CheckTask(row, logs);
      last[row.key.ordinal] = row.state;
    }
    for (const auto& [ordinal, state] : last) ++counts[state];
    if (!(counts == run->value->stages.back().counts))
      throw Violation("the counts of run " + FormatRunId(id) + " are not those of its tasks");
    if (last.size() != run->value->hosts)
      throw Violation("run " + FormatRunId(id) + " ended without a word about some hosts");
  }
  AuditWalk trail;
  const auto entries = store.ReadAudit(1, 1'000'000);
  for (const auto& entry : *entries) trail.Take(entry);
  if (!trail.Reaches(*store.ReadAuditHead()))
    throw Violation("the audit trail is broken at " + std::to_string(trail.bad()) + ": " +
                    trail.why());
  std::map<std::string, int> runs_by_key;
  for (const auto& [place, record] : tasks_)
    if (record.state == TaskState::kSent)
      throw Violation("task " + FormatTaskKey(record.key) + " is still out");
}

}  // namespace muster::sim
