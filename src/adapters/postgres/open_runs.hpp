#pragma once

#include "adapters/postgres/connection.hpp"
#include "ports/store.hpp"

// Reads of many rows that want one statement for each table, whatever their number: a statement is
// a round trip.
namespace muster::postgres {

Result<std::vector<Snapshot::OpenRun>> ReadOpenRuns(Connection& connection);
Result<std::vector<TaskRecord>> ReadOpenLogs(Connection& connection);
Result<std::optional<Snapshot::OpenRun>> ReadWhole(Connection& connection, RunId id);
Result<std::vector<std::optional<TaskRecord>>> ReadTasks(Connection& connection,
                                                         const std::vector<TaskKey>& keys);

}  // namespace muster::postgres
