#pragma once

#include "engine/turn.hpp"

namespace muster::engine {

// Says what a run (or one of its hosts) waits for, in words.
void Decide(Turn& turn, const AskWhy& command);

}  // namespace muster::engine
