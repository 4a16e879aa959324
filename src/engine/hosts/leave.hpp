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

// Forgets a host that is revoked or not connected, with the document that declares it; one that
// never joined is its document alone. What it ran is lost, what waits for it unreachable. Its key
// is unknown from then on, so an agent that comes back has to join again. kConflict for a host that
// is connected.
void Decide(Turn& turn, const RemoveHost& command);

}  // namespace muster::engine
