#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "adapters/postgres/connection.hpp"
#include "ports/store.hpp"

// Reads of task attempts and idempotency keys, as Store says.
namespace muster::postgres {

Result<std::vector<TaskRecord>> ReadTasks(Connection& connection, RunId run,
                                          const TaskFilter& filter,
                                          const std::optional<TaskKey>& after, std::size_t limit);
Result<ReadAt<std::vector<std::optional<TaskRecord>>>> ReadTasks(Connection& connection,
                                                                 const std::vector<TaskKey>& keys);
// Ended attempts of ended runs whose log is still open.
Result<std::vector<TaskRecord>> ReadOpenLogs(Connection& connection);
Result<ReadAt<std::optional<IdempotencyKey>>> ReadKey(Connection& connection,
                                                      std::string_view caller,
                                                      std::string_view key);

}  // namespace muster::postgres
