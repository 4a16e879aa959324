#pragma once

#include <string>

#include "engine/turn.hpp"

namespace muster::engine {

// How hosts cease: their key is no longer believed, or they are no longer known at all.

// Ends the link of the host's key and what was sent over it: nobody can ask about that any more, so
// it is lost. `why` becomes its reason.
void Disown(Turn& turn, HostEntry& entry, const std::string& why);

// From now on the key is refused. The host stays on record, and its name can be taken over.
void Decide(Turn& turn, const RevokeHost& command);

// Forgets a host that is revoked, or was not seen for a week. kConflict for others.
void Decide(Turn& turn, const RemoveHost& command);

}  // namespace muster::engine
