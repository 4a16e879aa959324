#pragma once

#include "engine/turn.hpp"

namespace muster::engine {

// Who may call: named tokens. That the caller may make or revoke them was checked before.

// kConflict when a usable token has the name; one that expired or was revoked makes room. Forgets
// tokens that have been unusable for a month. An Idempotency-Key makes one token and is answered
// with it again; with KeyRefused when the token is no longer usable, or the request was another.
void Decide(Turn& turn, const CreateToken& command);

// Revoking a second time changes nothing and is answered as the first. kNotFound: no such token.
void Decide(Turn& turn, const RevokeToken& command);

// Tokens as the store has them, and news of every one for a fresh listener.
void LoadTokens(State& state, Snapshot& snapshot);
void AnnounceTokens(const State& state, Effects& effects);

}  // namespace muster::engine
