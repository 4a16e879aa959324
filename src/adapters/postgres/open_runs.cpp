#include "adapters/postgres/open_runs.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "adapters/postgres/rows.hpp"
#include "adapters/records/records.hpp"
#include "adapters/records/row_values.hpp"

namespace muster::postgres {
namespace {

// What else belongs to runs, read with one statement for each table.
class Filler {
 public:
  Filler(Connection& connection, const Params& ids, std::vector<Snapshot::OpenRun>& runs)
      : connection_(connection), ids_(ids) {
    for (auto& run : runs) by_id_.emplace(run.run.id, &run);
  }

  // Calls `take` with each row and the run that its first column names.
  template <typename Take>
  Result<> Each(const std::string& sql, Take take) {
    auto rows = connection_.Ask(sql, ids_);
    if (!rows) return Fail(rows.error());
    for (int i = 0; i < rows->Count(); ++i) {
      const auto run = by_id_.find(RunId(rows->At(i).Id(0)));
      if (run == by_id_.end()) continue;
      if (Result<> taken = take(rows->At(i), *run->second); !taken) return taken;
    }
    return {};
  }

 private:
  Connection& connection_;
  const Params& ids_;
  std::map<RunId, Snapshot::OpenRun*> by_id_;
};

Result<> FillTargets(Filler& filler) {
  return filler.Each(
      "SELECT w.id, t.record FROM unnest(?) AS w (id) JOIN targets t ON t.run = w.id",
      [](const Row& row, Snapshot::OpenRun& run) -> Result<> {
        auto targets = records::Decode<Targets>(row.Bytes(1));
        if (!targets) return Fail(targets.error());
        run.targets = std::make_shared<const Targets>(std::move(*targets));
        return {};
      });
}

Result<> FillVisits(Filler& filler) {
  return filler.Each(
      "SELECT w.id, v.record FROM unnest(?) AS w (id) JOIN visit v ON v.run = w.id"
      " ORDER BY v.run, v.visit",
      [](const Row& row, Snapshot::OpenRun& run) -> Result<> {
        auto visit = records::Decode<StageVisit>(row.Bytes(1));
        if (!visit) return Fail(visit.error());
        run.visits.push_back(std::move(*visit));
        return {};
      });
}

Result<> FillTasks(Filler& filler) {
  return filler.Each(fmt::format("SELECT {} FROM unnest(?) AS w (id) JOIN task t ON t.run = w.id{}",
                                 records::kTaskColumns, records::kTaskNode),
                     [](const Row& row, Snapshot::OpenRun& run) -> Result<> {
                       auto task = records::TaskOf(row);
                       if (!task) return Fail(task.error());
                       run.tasks.push_back(std::move(*task));
                       return {};
                     });
}

Result<std::vector<Snapshot::OpenRun>> ReadAllOf(Connection& connection,
                                                 const std::vector<std::int64_t>& ids) {
  Params params;
  AddInts(params, ids);
  auto runs = ReadAll<Snapshot::OpenRun>(
      connection,
      "SELECT r.record, p.record FROM unnest(?) AS w (id)"
      " JOIN run r ON r.id = w.id LEFT JOIN plan p ON p.run = r.id ORDER BY r.id",
      params, [](const Row& row) -> Result<Snapshot::OpenRun> {
        auto run = records::RunWithPlan(row, 0);
        if (!run) return Fail(run.error());
        return Snapshot::OpenRun{.run = std::move(*run),
                                 .targets = std::make_shared<const Targets>(),
                                 .tasks = {},
                                 .visits = {}};
      });
  if (!runs) return runs;
  Filler filler(connection, params, *runs);
  for (const auto fill : {FillTargets, FillVisits, FillTasks})
    if (auto filled = fill(filler); !filled) return Fail(filled.error());
  // Here rather than there: they come in this order but for chance, and may be a million.
  for (auto& run : *runs)
    std::ranges::sort(run.tasks, {}, [](const TaskRecord& task) {
      return std::tuple(task.key.visit, task.key.ordinal, task.key.attempt);
    });
  return runs;
}

}  // namespace

Result<std::optional<Snapshot::OpenRun>> ReadWhole(Connection& connection, RunId id) {
  auto runs = ReadAllOf(connection, {static_cast<std::int64_t>(id.value)});
  if (!runs) return Fail(runs.error());
  if (runs->empty()) return std::optional<Snapshot::OpenRun>();
  return std::optional(std::move(runs->front()));
}

Result<std::vector<Snapshot::OpenRun>> ReadOpenRuns(Connection& connection) {
  auto ids = ReadAll<std::int64_t>(
      connection,
      fmt::format("SELECT id FROM run WHERE state < {} ORDER BY id", records::kFirstFinalRun), {},
      [](const Row& row) -> Result<std::int64_t> { return row.Int(0); });
  if (!ids) return Fail(ids.error());
  return ReadAllOf(connection, *ids);
}

Result<std::vector<TaskRecord>> ReadOpenLogs(Connection& connection) {
  return ReadAll<TaskRecord>(
      connection,
      fmt::format("SELECT {} FROM open_log o JOIN task t ON (t.run, t.visit, t.ordinal, t.attempt)"
                  " = (o.run, o.visit, o.ordinal, o.attempt){}"
                  " WHERE t.state >= {} AND t.log_state = {}"
                  " AND NOT EXISTS (SELECT 1 FROM run r WHERE r.id = o.run AND r.state < {})"
                  " ORDER BY t.run, t.visit, t.ordinal, t.attempt",
                  records::kTaskColumns, records::kTaskNode, records::kFirstFinalTask,
                  records::kOpenLog, records::kFirstFinalRun),
      {}, [](const Row& row) { return records::TaskOf(row); });
}

Result<std::vector<std::optional<TaskRecord>>> ReadTasks(Connection& connection,
                                                         const std::vector<TaskKey>& keys) {
  std::vector<std::int64_t> columns[6];
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const TaskKey& key = keys[i];
    const std::uint64_t values[] = {key.run.value,     key.visit.value, key.ordinal,
                                    key.attempt.value, key.host.value,  i};
    for (std::size_t column = 0; column < std::size(values); ++column)
      columns[column].push_back(static_cast<std::int64_t>(values[column]));
  }
  Params params;
  for (const auto& column : columns) AddInts(params, column);
  auto rows =
      connection.Ask(fmt::format("SELECT w.place, {} FROM unnest(?, ?, ?, ?, ?, ?)"
                                 " AS w (run, visit, ordinal, attempt, host, place)"
                                 " JOIN task t ON (t.run, t.visit, t.ordinal, t.attempt, t.host)"
                                 " = (w.run, w.visit, w.ordinal, w.attempt, w.host){}",
                                 records::kTaskColumns, records::kTaskNode),
                     params);
  if (!rows) return Fail(rows.error());
  std::vector<std::optional<TaskRecord>> found(keys.size());
  for (int i = 0; i < rows->Count(); ++i) {
    const Row row = rows->At(i);
    auto task = records::TaskOf(row, 1);
    if (!task) return Fail(task.error());
    found[row.Id(0)] = std::move(*task);
  }
  return found;
}

}  // namespace muster::postgres
