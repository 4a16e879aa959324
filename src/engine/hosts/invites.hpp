#pragma once

#include <cstdint>
#include <string>

#include "engine/turn.hpp"

// Invites: the tokens that hosts and servers join with.
namespace muster::engine {

// One Idempotency-Key makes one invite; the caller makes the same secret from the same key. A
// repeated key is kConflict when it came with another request, or when its invite is used up.
void Decide(Turn& turn, const CreateInvite& command);

// Passes an invite that JoinHost could use for this name, and one that the host or the newcomer of
// this name has used: it may ask again.
void Decide(Turn& turn, const CheckInvite& command);

void Decide(Turn& turn, const ListInvites& command);

// kNotFound: there is none with this id, or it is used up, expired or revoked. kConflict: several
// begin so.
void Decide(Turn& turn, const RevokeInvite& command);

enum class InviteKind : std::uint8_t { kHost, kServer };

// The invite, if it lets one of this kind and name in. kDenied says why not.
Result<Invite*> UsableInvite(Turn& turn, const std::string& id, const std::string& name,
                             InviteKind kind);

// One was let in with it. The invite may be gone afterwards.
void UseUp(Turn& turn, Invite& invite);

// Which invite, without its secret.
std::string InviteText(const Invite& invite);

}  // namespace muster::engine
