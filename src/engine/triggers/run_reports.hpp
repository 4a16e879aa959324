#pragma once

#include "engine/turn.hpp"

namespace muster::engine {

// Takes over what a run of the trigger said back (`muster.data.NAME`, `muster.next`,
// `muster.status`) and what its conditions leave to the next. In the batch that ends the run, so it
// happens once.
void Listen(Turn& turn, TriggerEntry& entry, const OpenRun& open);

}  // namespace muster::engine
