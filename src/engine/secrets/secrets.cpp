#include "engine/secrets/secrets.hpp"

namespace muster::engine {
namespace {

// The secret as it is now: what this term changed is known here, anything else was looked up.
Result<std::optional<Secret>> Current(const State& state, const std::string& name,
                                      const ReadAt<std::optional<Secret>>& known) {
  if (const auto found = state.secrets.set.find(name); found != state.secrets.set.end())
    return found->second;
  if (known.commit < state.loaded_at)
    return Fail(ErrorCode::kUnavailable,
                "another server led when secret '{}' was looked up; "
                "send the request again",
                name);
  return known.value;
}

}  // namespace

void Decide(Turn& turn, const SetSecret& command) {
  const auto before = Current(turn.state, command.name, command.known);
  if (!before) return turn.Answer(command, Fail(before.error()));
  Secret secret = before->value_or(Secret{});
  secret.version = *before ? secret.version + 1 : 1;
  secret.name = command.name;
  secret.sealed = command.sealed;
  secret.by = command.caller.name;
  secret.at = turn.now.wall;
  turn.Put(PutSecret{secret});
  turn.Audit(command.caller, "secret.set", "secret " + secret.name,
             fmt::format("version {}", secret.version));
  turn.Tell(SecretNews{.secrets = {secret}, .dropped = {}});
  secret.sealed.clear();
  turn.state.secrets.set[secret.name] = secret;
  turn.Answer(command, SecretAnswer{std::move(secret)});
}

void Decide(Turn& turn, const RemoveSecret& command) {
  auto before = Current(turn.state, command.name, command.known);
  if (!before) return turn.Answer(command, Fail(before.error()));
  if (!*before)
    return turn.Answer(
        command, Fail(ErrorCode::kNotFound, "there is no secret '{}'; see 'muster secrets list'",
                      command.name));
  Secret secret = std::move(**before);
  secret.sealed.clear();
  turn.Put(DropSecret{secret.name});
  turn.Audit(command.caller, "secret.remove", "secret " + secret.name,
             fmt::format("version {}", secret.version));
  turn.Tell(SecretNews{.secrets = {}, .dropped = {secret.name}});
  turn.state.secrets.set[secret.name].reset();
  turn.Answer(command, SecretAnswer{std::move(secret)});
}

}  // namespace muster::engine
