#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "adapters/postgres/connection.hpp"
#include "ports/store.hpp"

// Reads of runs and what belongs to them, as Store says.
namespace muster::postgres {

Result<ReadAt<std::optional<Run>>> ReadRun(Connection& connection, RunId id);
Result<std::shared_ptr<const Targets>> ReadTargets(Connection& connection, RunId id);
Result<std::vector<StageVisit>> ReadVisits(Connection& connection, RunId run, Visit after,
                                           std::size_t limit);
Result<std::vector<Run>> ReadRuns(Connection& connection, const RunFilter& filter, RunId before,
                                  std::size_t limit);

// These read several tables, inside a transaction that their caller opened.
Result<std::optional<Snapshot::OpenRun>> ReadWholeRun(Connection& connection, RunId id);
Result<std::vector<Snapshot::OpenRun>> ReadOpenRuns(Connection& connection);

}  // namespace muster::postgres
