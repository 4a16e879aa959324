#pragma once

#include "engine/turn.hpp"

// Servers of the cluster: how they join, and what is done to them. All of it is on the audit trail.
namespace muster::engine {

// An invite that was made for a server, and only such a one, lets one in.
void Decide(Turn& turn, const JoinServer& command);
void Decide(Turn& turn, const DrainServer& command);
void Decide(Turn& turn, const FinalizeStore& command);
void Decide(Turn& turn, const NoteKeys& command);

}  // namespace muster::engine
