#pragma once

#include "engine/effects.hpp"
#include "engine/state.hpp"

namespace muster::engine {

// News of every open run and its tasks, and of ended ones whose output is still coming, for a fresh
// listener.
void AnnounceRuns(const State& state, Effects& effects);

// News of the runs that changed since the last call.
void SummariseRuns(State& state, CommitNumber batch, Effects& effects);

}  // namespace muster::engine
