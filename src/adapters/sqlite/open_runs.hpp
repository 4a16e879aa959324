#pragma once

#include "adapters/records/query.hpp"
#include "ports/store.hpp"

// Reads that SQLite answers quickest row by row: a look into a table costs it no round trip.
namespace muster::sqlite {

Result<std::vector<Snapshot::OpenRun>> ReadOpenRuns(records::Queries& queries);
Result<std::vector<TaskRecord>> ReadOpenLogs(records::Queries& queries);
Result<std::optional<Snapshot::OpenRun>> ReadWhole(records::Queries& queries, RunId id);
Result<std::vector<std::optional<TaskRecord>>> ReadTasks(records::Queries& queries,
                                                         const std::vector<TaskKey>& keys);

}  // namespace muster::sqlite
