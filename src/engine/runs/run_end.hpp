#pragma once

#include "engine/turn.hpp"

namespace muster::engine {

// The run has ended: it is told, kept, and no longer in memory.
void EndRun(Turn& turn, OpenRun& run);

}  // namespace muster::engine
