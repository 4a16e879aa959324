#include "adapters/records/row_values.hpp"

#include "adapters/records/records.hpp"
#include "domain/run_row.hpp"

namespace muster::records {

Result<TaskRecord> TaskOf(const Row& row, int first) {
  const std::int64_t state = row.Int(first + 5);
  const std::int64_t log_state = row.Int(first + 14);
  if (state < 0 || state >= static_cast<std::int64_t>(kTaskStates) || log_state < 0 ||
      log_state > static_cast<std::int64_t>(LogState::kExpired))
    return Fail(ErrorCode::kInternal, "record: a task in state {} with log state {}", state,
                log_state);
  TaskRecord task;
  task.key = {.run = RunId(row.Id(first)),
              .visit = Visit(static_cast<std::uint32_t>(row.Int(first + 1))),
              .ordinal = static_cast<std::uint32_t>(row.Int(first + 2)),
              .host = HostId(row.Id(first + 4)),
              .attempt = Attempt(static_cast<std::uint32_t>(row.Int(first + 3)))};
  task.state = static_cast<TaskState>(state);
  task.sent = {row.Int(first + 6)};
  task.sent_commit = CommitNumber(row.Id(first + 7));
  task.sent_term = Term(row.Id(first + 8));
  task.ended = {row.Int(first + 9)};
  task.ended_commit = CommitNumber(row.Id(first + 10));
  task.ended_term = Term(row.Id(first + 11));
  task.store = row.Text(first + 12);
  task.boot = row.Text(first + 13);
  task.log.state = static_cast<LogState>(log_state);
  task.log.bytes = row.Id(first + 15);
  if (auto rest = DecodeTaskRest(row.Bytes(first + 16), &task); !rest) return Fail(rest.error());
  return task;
}

Result<AuditEntry> AuditOf(const Row& row) {
  AuditEntry entry;
  entry.number = row.Id(0);
  entry.at = {row.Int(1)};
  entry.actor = row.Text(2);
  entry.address = row.Text(3);
  entry.client = row.Text(4);
  entry.act = row.Text(5);
  entry.object = row.Text(6);
  entry.detail = row.Text(7);
  entry.reason = row.Text(8);
  entry.run = RunId(row.Id(9));
  entry.hosts = static_cast<std::uint32_t>(row.Int(10));
  entry.names = row.Text(11);
  entry.command = row.Text(12);
  entry.command_sha256 = row.Text(13);
  entry.previous = row.Text(14);
  entry.hash = row.Text(15);
  return entry;
}

Result<Run> RunWithPlan(const Row& row, int first) {
  auto run = Decode<Run>(row.Bytes(first));
  if (!run || row.IsNull(first + 1)) return run;
  auto plan = Decode<RunSpec>(row.Bytes(first + 1));
  // A leader cannot begin without it, so the error must say which run it is about.
  if (!plan)
    return Fail(plan.error().code, "run {}: {}", FormatRunId(run->id), plan.error().message);
  run->spec = JoinPlan(run->spec, std::move(*plan));
  return run;
}

template <typename T>
Result<T> RecordOf(const Row& row) {
  return Decode<T>(row.Bytes(0));
}

template Result<Host> RecordOf(const Row&);
template Result<Invite> RecordOf(const Row&);
template Result<PendingJoin> RecordOf(const Row&);
template Result<Freeze> RecordOf(const Row&);
template Result<Secret> RecordOf(const Row&);
template Result<OpenNotice> RecordOf(const Row&);
template Result<Run> RecordOf(const Row&);
template Result<StageVisit> RecordOf(const Row&);
template Result<Document> RecordOf(const Row&);
template Result<SlotRecord> RecordOf(const Row&);

}  // namespace muster::records
