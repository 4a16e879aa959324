#pragma once

#include "engine/turn.hpp"

// Invites that were made and can still be used. CreateInvite and JoinHost: enrol.hpp.
namespace muster::engine {

void Decide(Turn& turn, const ListInvites& command);

// kNotFound: there is none with this id, or it is used up, expired or revoked. kConflict: several
// begin so.
void Decide(Turn& turn, const RevokeInvite& command);

}  // namespace muster::engine
