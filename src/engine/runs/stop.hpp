#pragma once

#include "engine/turn.hpp"

namespace muster::engine {

// A durable wish: from its commit on nothing more of the run is dispatched, and what runs is told
// to end. With a host, only that host's task.
void Decide(Turn& turn, const StopRun& command);

// The same for a whole run, with the runs it started.
void StopWhole(Turn& turn, OpenRun& run, const StopWish& wish);

}  // namespace muster::engine
