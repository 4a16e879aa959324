#pragma once

#include <optional>

#include "engine/turn.hpp"

namespace muster::engine {

// Gates hold new work of every caller back. Running work is not touched.
void Decide(Turn& turn, const SetGate& command);

// For what writes records: the first gate that is closed for a reason outside the engine (a disk
// that fills), when one is.
std::optional<GateClosed> ClosedOutside(const State& state);

// For a new run or pass of an ended one: such a gate, or the memory that plans of open runs take.
std::optional<GateClosed> ClosedGate(const State& state);

}  // namespace muster::engine
