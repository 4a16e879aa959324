#pragma once

#include "engine/turn.hpp"

// Sealed values by name. The engine sees what is sealed and never what is in it; of that, nothing
// reaches the trail or an answer. That the caller may change secrets was checked before.
namespace muster::engine {

// Versions grow by one; a name that was removed begins again with 1. kUnavailable: what was looked
// up is older than this leadership.
void Decide(Turn& turn, const SetSecret& command);

// kNotFound: no such secret.
void Decide(Turn& turn, const RemoveSecret& command);

}  // namespace muster::engine
