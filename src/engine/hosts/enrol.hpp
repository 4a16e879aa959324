#pragma once

#include "engine/turn.hpp"

namespace muster::engine {

// How hosts come to be known: tickets to join with, and joining.

void Decide(Turn& turn, const CreateInvite& command);

// A new name becomes a host. A known name with the same key is the same host (the first answer was
// lost). A known name with another key needs a ticket made to replace; what the old key held is
// lost.
void Decide(Turn& turn, const JoinHost& command);

}  // namespace muster::engine
