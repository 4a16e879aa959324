#pragma once

#include "engine/turn.hpp"

namespace muster::engine {

// Creates a run and starts it. One idempotency key makes one run: a key that is known answers with
// the run it made, and is refused (kConflict) for another body.
void Decide(Turn& turn, const StartRun& command);

}  // namespace muster::engine
