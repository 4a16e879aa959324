#include "adapters/postgres/task_reader.hpp"

#include "adapters/postgres/rows.hpp"

namespace muster::postgres {
namespace {

constexpr std::string_view kJoinNode = " LEFT JOIN node n ON n.id = t.node";

// A host has few tasks in a run, so they are fetched by their index and then sorted.
constexpr std::string_view kOfHost =
    "WITH mine AS MATERIALIZED (SELECT * FROM task WHERE host = ? AND run = ?) SELECT";

}  // namespace

Result<std::vector<TaskRecord>> ReadTasks(Connection& connection, RunId run,
                                          const TaskFilter& filter,
                                          const std::optional<TaskKey>& after, std::size_t limit) {
  Params params;
  if (filter.host) params.Id(filter.host->value);
  params.Id(run.value);
  std::string sql(filter.host ? kOfHost : "SELECT");
  sql += kTaskColumns;
  sql += filter.host ? " FROM mine t" : " FROM task t";
  sql += kJoinNode;
  sql += filter.host ? " WHERE true" : " WHERE t.run = ?";
  if (after) {
    sql += " AND (t.visit, t.ordinal, t.attempt) > (?, ?, ?)";
    params.Int(after->visit.value).Int(after->ordinal).Int(after->attempt.value);
  }
  if (filter.state) {
    sql += " AND t.state = ?";
    params.Int(static_cast<std::int64_t>(*filter.state));
  }
  if (filter.last_attempt_only)
    sql +=
        " AND NOT EXISTS (SELECT 1 FROM task later WHERE later.run = t.run"
        " AND later.visit = t.visit AND later.ordinal = t.ordinal AND later.attempt > t.attempt)";
  sql += " ORDER BY t.visit, t.ordinal, t.attempt LIMIT ?";
  params.Int(LimitOf(limit));
  return ReadAll<TaskRecord>(connection, sql, params, [](const Row& row) { return TaskOf(row); });
}

Result<ReadAt<std::vector<std::optional<TaskRecord>>>> ReadTasks(Connection& connection,
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
  auto rows = connection.Ask("SELECT f.number, w.place," + std::string(kTaskColumns) +
                                 " FROM fence f LEFT JOIN (unnest(?, ?, ?, ?, ?, ?)"
                                 " AS w (run, visit, ordinal, attempt, host, place)"
                                 " JOIN task t ON (t.run, t.visit, t.ordinal, t.attempt, t.host)"
                                 " = (w.run, w.visit, w.ordinal, w.attempt, w.host)" +
                                 std::string(kJoinNode) + ") ON true",
                             params);
  if (!rows) return Fail(rows.error());
  ReadAt<std::vector<std::optional<TaskRecord>>> found;
  found.value.resize(keys.size());
  for (int i = 0; i < rows->Count(); ++i) {
    const Row row = rows->At(i);
    found.commit = CommitNumber(row.Id(0));
    if (row.IsNull(1)) break;
    auto task = TaskOf(row, 2);
    if (!task) return Fail(task.error());
    found.value[row.Id(1)] = std::move(*task);
  }
  return found;
}

Result<std::vector<TaskRecord>> ReadOpenLogs(Connection& connection) {
  return ReadAll<TaskRecord>(
      connection,
      "SELECT" + std::string(kTaskColumns) +
          " FROM open_log o JOIN task t ON (t.run, t.visit, t.ordinal, t.attempt)"
          " = (o.run, o.visit, o.ordinal, o.attempt)" +
          std::string(kJoinNode) +
          " WHERE t.state >= 4 AND t.log_state = 0"
          " AND NOT EXISTS (SELECT 1 FROM run r WHERE r.id = o.run AND r.state < 4)"
          " ORDER BY t.run, t.visit, t.ordinal, t.attempt",
      {}, [](const Row& row) { return TaskOf(row); });
}

Result<ReadAt<std::optional<IdempotencyKey>>> ReadKey(Connection& connection,
                                                      std::string_view caller,
                                                      std::string_view key) {
  return ReadOneAt<IdempotencyKey>(
      connection,
      "SELECT f.number, k.caller, k.key, k.body_sha256, k.run, k.created FROM fence f"
      " LEFT JOIN idempotency_key k ON k.caller = ? AND k.key = ?",
      Params().Bytes(caller).Bytes(key), [](const Row& row) -> Result<IdempotencyKey> {
        return IdempotencyKey{.caller = row.Text(1),
                              .key = row.Text(2),
                              .body_sha256 = row.Text(3),
                              .run = RunId(row.Id(4)),
                              .created = {row.Int(5)}};
      });
}

}  // namespace muster::postgres
