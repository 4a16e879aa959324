#include "adapters/sqlite/open_runs.hpp"

#include <limits>

#include <fmt/format.h>

#include "adapters/records/readers.hpp"
#include "adapters/records/row_values.hpp"

namespace muster::sqlite {
namespace {

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

Result<TaskRecord> TaskOf(const records::Row& row) { return records::TaskOf(row); }

}  // namespace

Result<std::optional<Snapshot::OpenRun>> ReadWhole(records::Queries& queries, RunId id) {
  auto run = records::FindRun(queries, id);
  if (!run) return Fail(run.error());
  if (!run->value) return std::optional<Snapshot::OpenRun>();
  Snapshot::OpenRun whole{.run = std::move(*run->value), .targets = {}, .tasks = {}, .visits = {}};
  auto targets = records::FindTargets(queries, id);
  if (!targets && targets.error().code == ErrorCode::kNotFound)
    targets = std::make_shared<const Targets>();
  if (!targets) return Fail(targets.error());
  whole.targets = std::move(*targets);
  auto tasks = records::ListTasks(
      queries, id, {.state = {}, .host = {}, .last_attempt_only = false}, std::nullopt, kAll);
  if (!tasks) return Fail(tasks.error());
  whole.tasks = std::move(*tasks);
  auto visits = records::ListVisits(queries, id, Visit(), kAll);
  if (!visits) return Fail(visits.error());
  whole.visits = std::move(*visits);
  return std::optional(std::move(whole));
}

Result<std::vector<Snapshot::OpenRun>> ReadOpenRuns(records::Queries& queries) {
  const auto ids = records::ReadAll<RunId>(
      queries,
      fmt::format("SELECT id FROM run INDEXED BY run_state WHERE state < {} ORDER BY id",
                  records::kFirstFinalRun),
      {}, [](const records::Row& row) -> Result<RunId> { return RunId(row.Id(0)); });
  if (!ids) return Fail(ids.error());
  std::vector<Snapshot::OpenRun> runs;
  for (const RunId id : *ids) {
    auto whole = ReadWhole(queries, id);
    // A leader cannot begin without it, so the error must say which run it is about.
    if (!whole)
      return Fail(whole.error().code, "run {}: {}", FormatRunId(id), whole.error().message);
    if (*whole) runs.push_back(std::move(**whole));
  }
  return runs;
}

Result<std::vector<TaskRecord>> ReadOpenLogs(records::Queries& queries) {
  return records::ReadAll<TaskRecord>(
      queries,
      fmt::format("SELECT {} FROM task t INDEXED BY task_open_log{}"
                  " WHERE t.log_state = {} AND t.state >= {}"
                  " AND t.run NOT IN (SELECT id FROM run WHERE state < {})"
                  " ORDER BY t.run, t.visit, t.ordinal, t.attempt",
                  records::kTaskColumns, records::kTaskNode, records::kOpenLog,
                  records::kFirstFinalTask, records::kFirstFinalRun),
      {}, TaskOf);
}

Result<std::vector<std::optional<TaskRecord>>> ReadTasks(records::Queries& queries,
                                                         const std::vector<TaskKey>& keys) {
  const std::string sql = fmt::format(
      "SELECT {} FROM task t{} WHERE t.run = ? AND t.visit = ? AND t.ordinal = ? AND t.attempt = ?"
      " AND t.host = ?",
      records::kTaskColumns, records::kTaskNode);
  std::vector<std::optional<TaskRecord>> rows;
  rows.reserve(keys.size());
  for (const auto& key : keys) {
    auto row = records::ReadOne<TaskRecord>(queries, sql,
                                            records::Values()
                                                .Id(key.run.value)
                                                .Int(key.visit.value)
                                                .Int(key.ordinal)
                                                .Int(key.attempt.value)
                                                .Id(key.host.value),
                                            TaskOf);
    if (!row) return Fail(row.error());
    rows.push_back(std::move(*row));
  }
  return rows;
}

}  // namespace muster::sqlite
