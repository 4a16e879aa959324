#pragma once

#include <optional>

#include "engine/turn.hpp"

namespace muster::engine {

// Gates that every new run passes, whoever starts it: the way work is held back for a reason
// outside the engine (a disk that fills). What runs is not touched.
void Decide(Turn& turn, const SetGate& command);

// The first closed gate, when one is.
std::optional<GateClosed> ClosedGate(const State& state);

}  // namespace muster::engine
