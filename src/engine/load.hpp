#pragma once

#include "base/instant.hpp"
#include "engine/state.hpp"
#include "ports/store.hpp"

namespace muster::engine {

// Builds the engine's memory from what the store holds. Hosts are offline until they say Hello; no
// deadline of a task fires before its host did, or the take-over grace is over.
State LoadState(Snapshot snapshot, Options options, Now now);

}  // namespace muster::engine
