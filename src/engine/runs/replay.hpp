#pragma once

#include "engine/state.hpp"

// A run's memory, made again from its rows.
namespace muster::engine {

// Fills what follows from the visits and tasks of a run whose `run` and `targets` are set: which
// hosts came through, what stages reported, and the open visits with their slots. Tells nobody and
// arms nothing.
void Replay(OpenRun& open, const std::vector<StageVisit>& visits, std::vector<TaskRecord> tasks);

// A visit is the first of a pass: its hosts are taken back among those that are ok, and what its
// stage and those after it (StagesAfter) reported of them is forgotten.
void BeginPass(OpenRun& open, const StageVisit& first);

}  // namespace muster::engine
