#pragma once

#include "engine/turn.hpp"

namespace muster::engine {

// Fires what is due, within the turn's budget.
void FireTimers(Turn& turn);

}  // namespace muster::engine
