#pragma once

#include <string>

#include "engine/turn.hpp"

// A run from stage to stage. Visits that end are followed by others until nothing is left to do.
namespace muster::engine {

// Moves a run as far as it can go now, within the turn's budget. Returns false when the run ended
// (and is no longer in memory).
bool Advance(Turn& turn, OpenRun& run);

// Past max_failures, with on_limit: pause.
void PauseAtLimit(Turn& turn, OpenRun& run, OpenVisit& visit, std::string reason);

// A new batch of a visit is on record, and news.
void TellBatch(Turn& turn, OpenRun& run, OpenVisit& visit);

// Arms the moment that a visit waits for.
void ArmVisit(Turn& turn, OpenRun& run, OpenVisit& visit, MonoTime at);

// That moment has come.
void OnVisitDue(Turn& turn, OpenRun& run, OpenVisit& visit);

}  // namespace muster::engine
