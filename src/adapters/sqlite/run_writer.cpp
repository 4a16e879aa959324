#include <algorithm>

#include "adapters/records/records.hpp"
#include "adapters/sqlite/old_runs.hpp"
#include "adapters/sqlite/record_writer.hpp"

// The part of RecordWriter that writes runs and what belongs to them.
namespace muster::sqlite {

Result<> RecordWriter::SplitOldRow(RunId run) {
  auto found = find_old_run_->Id(run.value).Step();
  Result<Run> row;
  if (found && *found) row = records::DecodeRun(find_old_run_->ColumnBytes(0));
  find_old_run_->Reset();
  if (!found) return Fail(found.error());
  if (!*found) return {};
  if (!row) return Fail(row.error());
  auto visit = OldVisitOf(database_, *row);
  if (!visit) return Fail(visit.error());
  if (*visit)
    if (auto written = WriteVisit(run, **visit); !written) return written;
  if (auto written = WritePlan(run, row->spec); !written) return written;
  return WriteRun(*row);
}

Result<> RecordWriter::WriteRun(const Run& run) {
  const auto record = records::EncodeRun(run);
  if (!record) return Fail(record.error());
  put_run_->Id(run.id.value).Int(static_cast<std::int64_t>(run.state)).Text(run.by);
  return put_run_->Int(run.created.ms).Blob(*record).Run();
}

Result<> RecordWriter::WritePlan(RunId run, const RunSpec& plan) {
  const auto record = records::EncodePlan(plan);
  if (!record) return Fail(record.error());
  return put_plan_->Id(run.value).Blob(*record).Run();
}

Result<> RecordWriter::WriteVisit(RunId run, const StageVisit& visit) {
  const auto record = records::EncodeVisit(visit);
  if (!record) return Fail(record.error());
  put_visit_->Id(run.value).Int(visit.visit.value).Int(IsFinal(visit.state) ? 0 : 1);
  return put_visit_->Blob(*record).Run();
}

Result<> RecordWriter::Put(const PutRun& put, Seen& seen) {
  const Run& run = put.run;
  if (run.id.value >> kRunNumberBits == id_space_)
    seen.run = std::max<std::uint64_t>(seen.run, run.id.value & ((1ULL << kRunNumberBits) - 1));
  if (auto split = SplitOldRow(run.id); !split) return split;
  return WriteRun(run);
}

Result<> RecordWriter::Put(const PutPlan& put, Seen&) {
  if (auto split = SplitOldRow(put.run); !split) return split;
  return WritePlan(put.run, *put.plan);
}

Result<> RecordWriter::Put(const PutVisit& put, Seen&) {
  if (auto split = SplitOldRow(put.run); !split) return split;
  return WriteVisit(put.run, put.visit);
}

Result<> RecordWriter::Put(const PutHold& put, Seen&) {
  const TaskKey& task = put.hold.task;
  put_hold_->Id(task.run.value).Int(task.visit.value).Int(task.ordinal).Id(task.host.value);
  return put_hold_->Int(task.attempt.value).Text(put.hold.key).Run();
}

Result<> RecordWriter::Put(const DropHold& drop, Seen&) {
  const TaskKey& task = drop.hold.task;
  drop_hold_->Id(task.run.value).Int(task.visit.value).Int(task.ordinal).Id(task.host.value);
  return drop_hold_->Int(task.attempt.value).Text(drop.hold.key).Run();
}

Result<> RecordWriter::Put(const DropRun& drop, Seen&) {
  const std::uint64_t run = drop.run.value;
  if (auto dropped = drop_tasks_->Id(run).Int(drop.most).Run(); !dropped) return dropped;
  if (database_.Changes() >= drop.most) return {};  // there may be more
  for (Statement* statement : {drop_wishes_, drop_holds_, drop_visits_, drop_plan_, drop_targets_})
    if (auto dropped = statement->Id(run).Run(); !dropped) return dropped;
  return drop_run_->Id(run).Run();
}

}  // namespace muster::sqlite
