#include "adapters/sqlite/run_reader.hpp"

#include <limits>

#include "adapters/records/records.hpp"
#include "adapters/sqlite/old_runs.hpp"
#include "adapters/sqlite/record_reader.hpp"
#include "adapters/sqlite/rows.hpp"
#include "domain/no_such_run.hpp"
#include "domain/run_row.hpp"

namespace muster::sqlite {
namespace {

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

Result<Run> RunOf(const Statement& row) { return records::DecodeRun(row.ColumnBytes(0)); }

Result<Run> WithPlan(Database& database, Run row) {
  auto plan = ReadOne<RunSpec>(
      database, "SELECT record FROM plan WHERE run = ?",
      [&](Statement& statement) { statement.Id(row.id.value); },
      [](const Statement& found) { return records::DecodePlan(found.ColumnBytes(0)); });
  if (!plan) return Fail(plan.error());
  if (*plan) row.spec = JoinPlan(row.spec, std::move(**plan));
  return row;
}

// A leader cannot begin without it, so whoever reads this must know which run it is about.
Error OfRun(RunId id, Error error) {
  error.message = fmt::format("run {}: {}", FormatRunId(id), error.message);
  return error;
}

Result<Snapshot::OpenRun> WholeOf(Database& database, Run row) {
  const RunId id = row.id;
  Snapshot::OpenRun whole;
  auto targets = ReadTargets(database, id);
  if (!targets && targets.error().code == ErrorCode::kNotFound)
    targets = std::make_shared<const Targets>();
  if (!targets) return Fail(targets.error());
  whole.targets = std::move(*targets);
  auto tasks = ReadTasks(database, id, {.state = {}, .host = {}, .last_attempt_only = false},
                         std::nullopt, kAll);
  if (!tasks) return Fail(tasks.error());
  whole.tasks = std::move(*tasks);
  auto visits = ReadVisits(database, id, Visit(), kAll);
  if (!visits) return Fail(visits.error());
  whole.visits = std::move(*visits);
  auto run = WithPlan(database, std::move(row));
  if (!run) return Fail(run.error());
  whole.run = std::move(*run);
  return whole;
}

}  // namespace

Result<std::optional<Run>> ReadRunRow(Database& database, RunId id) {
  return ReadOne<Run>(
      database, "SELECT record FROM run WHERE id = ?",
      [&](Statement& statement) { statement.Id(id.value); }, RunOf);
}

Result<std::optional<Run>> ReadRun(Database& database, RunId id) {
  auto row = ReadRunRow(database, id);
  if (!row || !*row) return row;
  auto run = WithPlan(database, std::move(**row));
  if (!run) return Fail(run.error());
  return std::optional(std::move(*run));
}

Result<std::shared_ptr<const Targets>> ReadTargets(Database& database, RunId id) {
  auto found = ReadOne<std::shared_ptr<const Targets>>(
      database, "SELECT record FROM targets WHERE run = ?",
      [&](Statement& statement) { statement.Id(id.value); },
      [](const Statement& row) { return records::DecodeTargets(row.ColumnBytes(0)); });
  if (!found) return Fail(found.error());
  if (!*found) return Fail(NoSuchRun(id));
  return std::move(**found);
}

Result<std::vector<StageVisit>> ReadVisits(Database& database, RunId run, Visit after,
                                           std::size_t limit) {
  auto visits = ReadAll<StageVisit>(
      database, "SELECT record FROM visit WHERE run = ? AND visit > ? ORDER BY visit LIMIT ?",
      [](const Statement& row) { return records::DecodeVisit(row.ColumnBytes(0)); },
      [&](Statement& statement) { statement.Id(run.value).Int(after.value).Int(LimitOf(limit)); });
  if (!visits || !visits->empty() || limit == 0) return visits;
  auto old = ReadOldVisit(database, run);
  if (!old) return Fail(old.error());
  if (*old && (*old)->visit > after) visits->push_back(std::move(**old));
  return visits;
}

Result<std::optional<Snapshot::OpenRun>> ReadWholeRun(Database& database, RunId id) {
  auto row = ReadRunRow(database, id);
  if (!row) return Fail(row.error());
  if (!*row) return std::optional<Snapshot::OpenRun>();
  auto whole = WholeOf(database, std::move(**row));
  if (!whole) return Fail(whole.error());
  return std::optional(std::move(*whole));
}

Result<std::vector<Snapshot::OpenRun>> ReadOpenRuns(Database& database) {
  auto rows = ReadAll<Run>(
      database, "SELECT record FROM run INDEXED BY run_state WHERE state < 4 ORDER BY id", RunOf);
  if (!rows) return Fail(rows.error());
  std::vector<Snapshot::OpenRun> runs;
  for (auto& row : *rows) {
    const RunId id = row.id;
    auto whole = WholeOf(database, std::move(row));
    if (!whole) return Fail(OfRun(id, std::move(whole.error())));
    runs.push_back(std::move(*whole));
  }
  return runs;
}

}  // namespace muster::sqlite
