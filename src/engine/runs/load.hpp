#pragma once

#include "base/instant.hpp"
#include "engine/state.hpp"
#include "ports/store.hpp"

// Runs as the store has them, for a new leadership.
namespace muster::engine {

// Open runs, with their timers. Hosts are loaded before.
void LoadRuns(State& state, Snapshot& snapshot, Now now);

// Ended attempts whose node still has something to say, or has to hear of a stop; after LoadRuns.
void LoadTasks(State& state, Snapshot& snapshot);

}  // namespace muster::engine
