#include <fmt/format.h>

#include "adapters/records/readers.hpp"
#include "adapters/records/row_values.hpp"

namespace muster::records {

Result<std::vector<TaskRecord>> ListTasks(Queries& queries, RunId run, const TaskFilter& filter,
                                          const std::optional<TaskKey>& after, std::size_t limit) {
  Values values;
  if (filter.host) values.Id(filter.host->value);
  values.Id(run.value);
  // A host has few tasks in a run, so they are fetched by their index and then sorted.
  std::string sql =
      filter.host ? fmt::format(
                        "WITH mine AS MATERIALIZED (SELECT * FROM task{} WHERE host = ?"
                        " AND run = ?) SELECT {} FROM mine t{} WHERE t.run = t.run",
                        queries.IndexedBy("task_host"), kTaskColumns, kTaskNode)
                  : fmt::format("SELECT {} FROM task t{} WHERE t.run = ?", kTaskColumns, kTaskNode);
  if (after) {
    sql += " AND (t.visit, t.ordinal, t.attempt) > (?, ?, ?)";
    values.Int(after->visit.value).Int(after->ordinal).Int(after->attempt.value);
  }
  if (filter.state) {
    sql += " AND t.state = ?";
    values.Int(static_cast<std::int64_t>(*filter.state));
  }
  if (filter.last_attempt_only)
    sql +=
        " AND NOT EXISTS (SELECT 1 FROM task later WHERE later.run = t.run"
        " AND later.visit = t.visit AND later.ordinal = t.ordinal AND later.attempt > t.attempt)";
  sql += " ORDER BY t.visit, t.ordinal, t.attempt LIMIT ?";
  return ReadAll<TaskRecord>(queries, sql, values.Int(LimitOf(limit)),
                             [](const Row& row) { return TaskOf(row); });
}

}  // namespace muster::records
