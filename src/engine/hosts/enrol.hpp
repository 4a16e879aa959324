#pragma once

#include "engine/turn.hpp"

namespace muster::engine {

// How hosts come to be known: tickets to join with, joining, and what waits to be decided.

// One Idempotency-Key makes one ticket; the caller makes the same secret from the same key. A
// repeated key is kConflict when it came with another request, or when its ticket is used up.
void Decide(Turn& turn, const CreateInvite& command);

// Passes a ticket that JoinHost could use for this name, and one that the host or the newcomer of
// this name has used: it may ask again.
void Decide(Turn& turn, const CheckInvite& command);

// A new name becomes a host. A known name with the same key is the same host (the first answer was
// lost). A known name with another key takes the host over at once when the ticket was made to
// replace, and else waits for AcceptJoin; asking again with the same ticket and key tells how it
// stands. Its labels: the newcomer's own, under those the host has, under the ticket's.
void Decide(Turn& turn, const JoinHost& command);

// A ticket that was made for a server, and only such a one, lets one in.
void Decide(Turn& turn, const JoinServer& command);
void Decide(Turn& turn, const DrainServer& command);
void Decide(Turn& turn, const FinalizeStore& command);
void Decide(Turn& turn, const NoteKeys& command);

// The newcomer becomes the host of that name; what the old key held is lost.
void Decide(Turn& turn, const AcceptJoin& command);
void Decide(Turn& turn, const RejectJoin& command);
void Decide(Turn& turn, const ListPending& command);

}  // namespace muster::engine
