#pragma once

#include "engine/turn.hpp"

// Stages that the server carries out itself: requests, messages, child runs.
namespace muster::engine {

// Begins what a visit is for, unless it has begun.
void StartServerWork(Turn& turn, OpenRun& run, OpenVisit& visit);

// What an earlier leadership had begun is lost with it.
void LoseServerWork(Turn& turn, OpenRun& run, OpenVisit& visit);

// Nobody wants it any more: what is on its way comes to its end soon.
void StopServerWork(Turn& turn, const OpenVisit& visit);

// Tells how a task of the server's own ended.
void Decide(Turn& turn, const ServerReport& command);

// Whether something of it is on its way.
bool HasServerWork(const OpenVisit& visit);

// A run ended: its parent is told.
void OnRunEnd(Turn& turn, OpenRun& run);

}  // namespace muster::engine
