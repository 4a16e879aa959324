#include "adapters/postgres/run_reader.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "adapters/postgres/rows.hpp"
#include "adapters/records/records.hpp"
#include "domain/no_such_run.hpp"
#include "domain/run_row.hpp"

namespace muster::postgres {
namespace {

// The run in column `first`, with the plan in the next one if there is one.
Result<Run> RunWithPlan(const Row& row, int first) {
  auto run = records::DecodeRun(row.Bytes(first));
  if (!run || row.IsNull(first + 1)) return run;
  auto plan = records::DecodePlan(row.Bytes(first + 1));
  if (!plan)
    return Fail(plan.error().code, "run {}: {}", FormatRunId(run->id), plan.error().message);
  run->spec = JoinPlan(run->spec, std::move(*plan));
  return run;
}

// One statement for each table, whatever the number of runs.
Result<std::vector<Snapshot::OpenRun>> ReadWhole(Connection& connection,
                                                 const std::vector<std::int64_t>& ids) {
  Params params;
  AddInts(params, ids);
  std::vector<Snapshot::OpenRun> all;
  auto runs = ReadAll<Run>(connection,
                           "SELECT r.record, p.record FROM unnest(?) AS w (id)"
                           " JOIN run r ON r.id = w.id LEFT JOIN plan p ON p.run = r.id"
                           " ORDER BY r.id",
                           params, [](const Row& row) { return RunWithPlan(row, 0); });
  if (!runs) return Fail(runs.error());
  std::map<RunId, Snapshot::OpenRun*> by_id;
  all.resize(runs->size());
  for (std::size_t i = 0; i < runs->size(); ++i) {
    all[i].run = std::move((*runs)[i]);
    all[i].targets = std::make_shared<const Targets>();
    by_id.emplace(all[i].run.id, &all[i]);
  }
  // Calls `take` with each row and the run that its first column names.
  const auto each = [&](const std::string& sql, auto take) -> Result<> {
    auto rows = connection.Ask(sql, params);
    if (!rows) return Fail(rows.error());
    for (int i = 0; i < rows->Count(); ++i) {
      const auto run = by_id.find(RunId(rows->At(i).Id(0)));
      if (run == by_id.end()) continue;
      if (Result<> taken = take(rows->At(i), *run->second); !taken) return taken;
    }
    return {};
  };
  auto read = each("SELECT w.id, t.record FROM unnest(?) AS w (id) JOIN targets t ON t.run = w.id",
                   [](const Row& row, Snapshot::OpenRun& run) -> Result<> {
                     auto targets = records::DecodeTargets(row.Bytes(1));
                     if (!targets) return Fail(targets.error());
                     run.targets = std::move(*targets);
                     return {};
                   });
  if (read)
    read = each(
        "SELECT w.id, v.record FROM unnest(?) AS w (id) JOIN visit v ON v.run = w.id"
        " ORDER BY v.run, v.visit",
        [](const Row& row, Snapshot::OpenRun& run) -> Result<> {
          auto visit = records::DecodeVisit(row.Bytes(1));
          if (!visit) return Fail(visit.error());
          run.visits.push_back(std::move(*visit));
          return {};
        });
  if (read)
    read = each("SELECT" + std::string(kTaskColumns) +
                    " FROM unnest(?) AS w (id) JOIN task t ON t.run = w.id"
                    " LEFT JOIN node n ON n.id = t.node",
                [](const Row& row, Snapshot::OpenRun& run) -> Result<> {
                  auto task = TaskOf(row);
                  if (!task) return Fail(task.error());
                  run.tasks.push_back(std::move(*task));
                  return {};
                });
  if (!read) return Fail(read.error());
  // Here rather than there: they come in this order but for chance, and may be a million.
  for (auto& run : all)
    std::ranges::sort(run.tasks, {}, [](const TaskRecord& task) {
      return std::tuple(task.key.visit, task.key.ordinal, task.key.attempt);
    });
  return all;
}

}  // namespace

Result<ReadAt<std::optional<Run>>> ReadRun(Connection& connection, RunId id) {
  return ReadOneAt<Run>(connection,
                        "SELECT f.number, r.record, p.record FROM fence f"
                        " LEFT JOIN run r ON r.id = ? LEFT JOIN plan p ON p.run = r.id",
                        Params().Id(id.value), [](const Row& row) { return RunWithPlan(row, 1); });
}

Result<std::shared_ptr<const Targets>> ReadTargets(Connection& connection, RunId id) {
  auto found = ReadOne<std::shared_ptr<const Targets>>(
      connection, "SELECT record FROM targets WHERE run = ?", Params().Id(id.value),
      [](const Row& row) { return records::DecodeTargets(row.Bytes(0)); });
  if (!found) return Fail(found.error());
  if (!*found) return Fail(NoSuchRun(id));
  return std::move(**found);
}

Result<std::vector<StageVisit>> ReadVisits(Connection& connection, RunId run, Visit after,
                                           std::size_t limit) {
  return ReadAll<StageVisit>(
      connection, "SELECT record FROM visit WHERE run = ? AND visit > ? ORDER BY visit LIMIT ?",
      Params().Id(run.value).Int(after.value).Int(LimitOf(limit)),
      [](const Row& row) { return records::DecodeVisit(row.Bytes(0)); });
}

Result<std::optional<Snapshot::OpenRun>> ReadWholeRun(Connection& connection, RunId id) {
  auto runs = ReadWhole(connection, {static_cast<std::int64_t>(id.value)});
  if (!runs) return Fail(runs.error());
  if (runs->empty()) return std::optional<Snapshot::OpenRun>();
  return std::optional(std::move(runs->front()));
}

Result<std::vector<Snapshot::OpenRun>> ReadOpenRuns(Connection& connection) {
  auto ids =
      ReadAll<std::int64_t>(connection, "SELECT id FROM run WHERE state < 4 ORDER BY id", {},
                            [](const Row& row) -> Result<std::int64_t> { return row.Int(0); });
  if (!ids) return Fail(ids.error());
  return ReadWhole(connection, *ids);
}

}  // namespace muster::postgres
