#include "engine/auth/tokens.hpp"

#include <algorithm>

#include "engine/keys.hpp"

namespace muster::engine {
namespace {

// So long whoever uses a token that has ended is told so, rather than that it is unknown.
constexpr Duration kRemembered = std::chrono::hours(30 * 24);

bool LongEnded(const Token& token, WallTime now) {
  const WallTime ended = token.revoked ? token.revoked : token.expires;
  return !token.UsableAt(now) && ended + kRemembered < now;
}

void ForgetLongEnded(Turn& turn, TokenNews& news) {
  std::erase_if(turn.state.auth.tokens, [&](const auto& item) {
    if (!LongEnded(item.second, turn.now.wall)) return false;
    turn.Put(DropToken{item.first});
    news.dropped.push_back(item.first);
    return true;
  });
}

// What a key that made a token before is answered. By its hash the token is told from a later one
// of the name.
CreateToken::Answer AgainFor(const Turn& turn, const Token& token) {
  const auto made = turn.state.auth.tokens.find(token.name);
  if (made == turn.state.auth.tokens.end() || made->second.hash != token.hash ||
      !made->second.UsableAt(turn.now.wall))
    return KeyRefused{
        "the token of this Idempotency-Key was revoked or expired; send a new key for a new one"};
  return TokenAnswer{made->second};
}

}  // namespace

void Decide(Turn& turn, const CreateToken& command) {
  const Token& token = command.token;
  const KeyedRequest request{command.caller, command.key, command.body_sha256, command.known};
  if (!command.key.empty()) {
    const auto known = KnownKey(turn, request);
    if (!known && known.error().code == ErrorCode::kConflict)
      return turn.Answer(command, KeyRefused{known.error().message});
    if (!known) return turn.Answer(command, Fail(known.error()));
    if (*known) return turn.Answer(command, AgainFor(turn, token));
  }
  if (const auto known = turn.state.auth.tokens.find(token.name);
      known != turn.state.auth.tokens.end() && known->second.UsableAt(turn.now.wall))
    return turn.Answer(command,
                       Fail(ErrorCode::kConflict,
                            "there is a token '{}' already; take another name, or first 'muster "
                            "tokens revoke {}'",
                            token.name, token.name));
  if (!command.key.empty()) RememberKey(turn, request, RunId{});
  TokenNews news;
  ForgetLongEnded(turn, news);
  turn.state.auth.tokens[token.name] = token;
  turn.Put(PutToken{token});
  turn.Audit(command.caller, "token.create", "token " + token.name,
             fmt::format("role {}, {}", Name(token.role),
                         token.expires ? "expires " + FormatTime(token.expires) : "never expires"));
  news.tokens.push_back(token);
  turn.Tell(std::move(news));
  turn.Answer(command, TokenAnswer{token});
}

void Decide(Turn& turn, const RevokeToken& command) {
  const auto found = turn.state.auth.tokens.find(command.name);
  if (found == turn.state.auth.tokens.end())
    return turn.Answer(
        command, Fail(ErrorCode::kNotFound, "there is no token '{}'; see 'muster tokens list'",
                      command.name));
  Token& token = found->second;
  if (!token.revoked) {
    token.revoked = turn.now.wall;
    token.revoked_by = command.caller.name;
    turn.Put(PutToken{token});
    AuditEntry entry;
    entry.act = "token.revoke";
    entry.object = "token " + token.name;
    entry.reason = command.reason;
    turn.Audit(command.caller, std::move(entry));
    turn.Tell(TokenNews{.tokens = {token}, .dropped = {}});
  }
  turn.Answer(command, TokenAnswer{token});
}

void LoadTokens(State& state, Snapshot& snapshot) {
  for (auto& token : snapshot.tokens) state.auth.tokens[token.name] = std::move(token);
}

void AnnounceTokens(const State& state, Effects& effects) {
  TokenNews news{.tokens = {}, .dropped = {}, .all = true};
  for (const auto& [name, token] : state.auth.tokens) news.tokens.push_back(token);
  effects.news.push_back(std::move(news));
}

}  // namespace muster::engine
