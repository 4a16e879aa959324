#pragma once

#include "engine/turn.hpp"

namespace muster::engine {

// Sets and removes labels. Hosts that are no longer known are passed over.
void Decide(Turn& turn, const LabelHosts& command);

}  // namespace muster::engine
