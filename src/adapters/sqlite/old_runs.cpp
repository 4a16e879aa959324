#include "adapters/sqlite/old_runs.hpp"

#include "adapters/records/records.hpp"
#include "adapters/sqlite/rows.hpp"

namespace muster::sqlite {
namespace {

// Which hosts the visit touched and which it dropped: those whose last attempt did not succeed,
// and those that have no row.
Result<> TakeOutcome(Database& database, RunId run, StageVisit* visit) {
  auto statement = database.Prepare(
      "SELECT ordinal, state, sent FROM task WHERE run = ? AND visit = ?"
      " ORDER BY ordinal, attempt");
  if (!statement) return Fail(statement.error());
  (*statement)->Id(run.value).Int(visit->visit.value);
  std::map<std::uint32_t, bool> succeeded;
  auto read = EachRow(**statement, [&](const Statement& row) -> Result<> {
    const auto ordinal = static_cast<std::uint32_t>(row.ColumnInt(0));
    succeeded[ordinal] = row.ColumnInt(1) == static_cast<std::int64_t>(TaskState::kSucceeded);
    if (row.ColumnInt(2) != 0) visit->touched.Insert(ordinal);
    return {};
  });
  if (!read) return read;
  Ordinals through;
  for (const auto& [ordinal, well] : succeeded)
    if (well) through.Insert(ordinal);
  visit->dropped = Difference(visit->hosts, through);
  return {};
}

}  // namespace

Result<std::optional<StageVisit>> OldVisitOf(Database& database, const Run& row) {
  if (row.spec.stages.empty() || row.stages.empty()) return std::optional<StageVisit>();
  const StageProgress& stage = row.stages.front();
  StageVisit visit;
  visit.visit = stage.visit;
  visit.name = stage.name;
  visit.pass = row.pass;
  visit.state = stage.state;
  visit.started = stage.started;
  visit.ended = stage.ended;
  visit.hosts = Ordinals::All(row.hosts);
  visit.counts = stage.counts;
  if (IsFinal(visit.state))
    if (auto taken = TakeOutcome(database, row.id, &visit); !taken) return Fail(taken.error());
  return std::optional(std::move(visit));
}

Result<std::optional<StageVisit>> ReadOldVisit(Database& database, RunId run) {
  auto row = ReadOne<Run>(
      database, "SELECT record FROM run WHERE id = ? AND whole = 1",
      [&](Statement& statement) { statement.Id(run.value); },
      [](const Statement& found) { return records::DecodeRun(found.ColumnBytes(0)); });
  if (!row) return Fail(row.error());
  if (!*row) return std::optional<StageVisit>();
  return OldVisitOf(database, **row);
}

}  // namespace muster::sqlite
