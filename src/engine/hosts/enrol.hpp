#pragma once

#include "engine/turn.hpp"

// How hosts come to be known: joining, and what waits to be decided.
namespace muster::engine {

// A new name becomes a host. A known name with the same key is the same host (the first answer was
// lost). A known name with another key takes the host over at once when the invite was made to
// replace, and else waits for AcceptJoin; asking again with the same invite and key tells how it
// stands. Its labels: the newcomer's own, under those the host has, under the invite's.
void Decide(Turn& turn, const JoinHost& command);

// The newcomer becomes the host of that name; what the old key held is lost.
void Decide(Turn& turn, const AcceptJoin& command);
void Decide(Turn& turn, const RejectJoin& command);
void Decide(Turn& turn, const ListPending& command);

}  // namespace muster::engine
