#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "adapters/sqlite/database.hpp"
#include "ports/store.hpp"

// The reads a SqliteStore answers. Each runs inside a transaction its caller opened, so that
// several see one moment.
namespace muster::sqlite {

// The cluster's id; "" in a store from before there was one.
Result<std::string> ReadCluster(Database& database);

Result<Snapshot> ReadSnapshot(Database& database);
Result<std::vector<Run>> ReadRuns(Database& database, const RunFilter& filter, RunId before,
                                  std::size_t limit);
Result<std::vector<TaskRecord>> ReadTasks(Database& database, RunId run, const TaskFilter& filter,
                                          const std::optional<TaskKey>& after, std::size_t limit);
Result<std::vector<std::optional<TaskRecord>>> ReadTasks(Database& database,
                                                         const std::vector<TaskKey>& keys);
Result<std::vector<Token>> ReadTokens(Database& database);
Result<std::optional<IdempotencyKey>> ReadKey(Database& database, std::string_view caller,
                                              std::string_view key);

}  // namespace muster::sqlite
