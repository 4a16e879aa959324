#pragma once

#include "engine/turn.hpp"

namespace muster::engine {

// Answers with FileAnswer; changes nothing.
void Decide(Turn& turn, const AskFile& command);

}  // namespace muster::engine
