#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "adapters/sqlite/database.hpp"
#include "ports/store.hpp"

// Reads of one run and all that belongs to it. Each runs inside a transaction its caller opened.
namespace muster::sqlite {

// As it lies in its row: without its plan, but for rows of old (old_runs.hpp).
Result<std::optional<Run>> ReadRunRow(Database& database, RunId id);
Result<std::optional<Run>> ReadRun(Database& database, RunId id);  // with its plan
Result<std::shared_ptr<const Targets>> ReadTargets(Database& database, RunId id);
Result<std::vector<StageVisit>> ReadVisits(Database& database, RunId run, Visit after,
                                           std::size_t limit);
Result<std::optional<Snapshot::OpenRun>> ReadWholeRun(Database& database, RunId id);
Result<std::vector<Snapshot::OpenRun>> ReadOpenRuns(Database& database);

}  // namespace muster::sqlite
