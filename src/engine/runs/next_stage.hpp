#pragma once

#include "engine/runs/stage_entry.hpp"
#include "engine/turn.hpp"

// Which stage of the top level comes next.
namespace muster::engine {

// Enters the first stage of a new run or pass.
void Begin(Turn& turn, OpenRun& run);

// Enters this stage, or what comes after it if it is skipped.
void Enter(Turn& turn, OpenRun& run, std::uint32_t stage, const Entry& entry);

// A stage of the top level has ended: enters what comes next.
void Follow(Turn& turn, OpenRun& run, const StageVisit& ended);

}  // namespace muster::engine
