#pragma once

#include <optional>
#include <string>

#include "engine/turn.hpp"

namespace muster::engine {

// Idempotency keys: one key makes one thing. They belong to a caller; memory holds those of the
// last while, and the caller's look-up (`known`) reaches further back.

struct KeyedRequest {
  const Caller& caller;
  const std::string& key;
  const std::string& body_sha256;
  const ReadAt<std::optional<IdempotencyKey>>& known;
};

// What this key already made. kUnavailable: the look-up is too old to tell, or the secret of the
// request was made without it; kConflict: the key stands for another request.
Result<std::optional<IdempotencyKey>> KnownKey(const Turn& turn, const KeyedRequest& request);

// Keeps that the key made `run` (none for other things).
void RememberKey(Turn& turn, const KeyedRequest& request, RunId run);

}  // namespace muster::engine
