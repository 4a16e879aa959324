#pragma once

#include "engine/turn.hpp"

namespace muster::engine {

// Answers with FileAnswer. Nothing is put on record: what a host sent is remembered while the task
// that takes it is open.
void Decide(Turn& turn, const AskFile& command);

}  // namespace muster::engine
