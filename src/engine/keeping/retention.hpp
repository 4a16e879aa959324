#pragma once

#include "engine/turn.hpp"

namespace muster::engine {

// Drops old records: one slice, about as large as any other decision. A run that is open, or whose
// output is still coming, stays; so does an invite that may still be used.
void Decide(Turn& turn, const DropOld& command);

}  // namespace muster::engine
