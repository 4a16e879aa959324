#pragma once

#include <optional>

#include "adapters/sqlite/database.hpp"
#include "domain/records.hpp"

// Runs of before there were jobs: one stage, entered once, its plan inside the run's row and no row
// for the visit. History stays as it was written; a run is split into rows of today when something
// of it is written again.
namespace muster::sqlite {

// The one visit of such a run, made from its row and, when it has ended, from its tasks. Nothing
// for every other run.
Result<std::optional<StageVisit>> ReadOldVisit(Database& database, RunId run);

// The same from the run as its row gave it.
Result<std::optional<StageVisit>> OldVisitOf(Database& database, const Run& row);

}  // namespace muster::sqlite
