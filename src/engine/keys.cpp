#include "engine/keys.hpp"

namespace muster::engine {
namespace {

void ForgetOldKeys(Turn& turn) {
  State& state = turn.state;
  std::erase_if(state.keys.remembered, [&](const auto& item) {
    const auto& remembered = item.second;
    if (turn.now.mono - remembered.at < state.options.keys_remembered) return false;
    if (remembered.commit > state.keys.forgotten_at) state.keys.forgotten_at = remembered.commit;
    return true;
  });
}

std::optional<IdempotencyKey> Find(const Turn& turn, const KeyedRequest& request) {
  const auto found = turn.state.keys.remembered.find({request.caller.name, request.key});
  return found == turn.state.keys.remembered.end() ? request.known.value : found->second.key;
}

}  // namespace

Result<std::optional<IdempotencyKey>> KnownKey(const Turn& turn, const KeyedRequest& request) {
  const auto known = Find(turn, request);
  // Memory holds every key committed since `keys_forgotten_at`; the look-up must reach as far.
  if (!known && request.known.commit < turn.state.keys.forgotten_at)
    return Fail(ErrorCode::kUnavailable,
                "the look-up of the idempotency key is too old; send the request again");
  if (known && KeyBody(known->body_sha256) != KeyBody(request.body_sha256))
    return Fail(ErrorCode::kConflict,
                "the Idempotency-Key was used for another request{}; use a new key",
                known->run ? fmt::format(" ({})", FormatRunId(known->run)) : "");
  if (known && KeySalt(known->body_sha256) != KeySalt(request.body_sha256))
    return Fail(ErrorCode::kUnavailable,
                "the Idempotency-Key was answered just now; send the request again");
  return known;
}

void RememberKey(Turn& turn, const KeyedRequest& request, RunId run) {
  const IdempotencyKey key{request.caller.name, request.key, request.body_sha256, run,
                           turn.now.wall};
  if (turn.state.keys.remembered.size() % 1024 == 1023) ForgetOldKeys(turn);
  turn.state.keys.remembered[{key.caller, key.key}] = {key, turn.commit, turn.now.mono};
  turn.Put(PutKey{key});
}

}  // namespace muster::engine
