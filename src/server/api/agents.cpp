#include <boost/json.hpp>

#include "adapters/crypto/digest.hpp"
#include "adapters/crypto/pki.hpp"
#include "base/text.hpp"
#include "domain/join_token.hpp"
#include "server/api/caller.hpp"
#include "server/api/invites.hpp"
#include "server/api/keyed.hpp"
#include "server/api/labels.hpp"
#include "server/api/routes.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostRequestPem = 16 << 10;
constexpr std::size_t kSecretBytes = 20;
constexpr std::int64_t kAskAgainMs = 5000;

// A pattern that only matches what could be a host name.
Result<std::string> ReadNames(const json::value& value) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-*?";
  if (!value.is_string() || value.as_string().empty() || value.as_string().size() > 253 ||
      std::string_view(value.as_string()).find_first_not_of(kAllowed) != std::string_view::npos)
    return Fail(ErrorCode::kInvalid,
                "names: expected a pattern of host names, such as 'web*' (letters, digits, '.', "
                "'_', '-', '*', '?')");
  return std::string(value.as_string());
}

}  // namespace

std::string InviteId(std::string_view secret) { return ToHex(crypto::Sha256(secret)); }

Result<Labels> ReadLabels(const json::value& value) {
  Labels labels;
  if (!value.is_object()) return Fail(ErrorCode::kInvalid, "labels: expected an object of strings");
  for (const auto& item : value.as_object()) {
    if (!item.value().is_string())
      return Fail(ErrorCode::kInvalid, "labels: expected an object of strings");
    const std::string key(item.key());
    const std::string text(item.value().as_string());
    if (const auto fits = CheckLabel(key, text); !fits) return Fail(fits.error());
    labels[key] = text;
  }
  return labels;
}

namespace {

Result<std::uint64_t> ReadNumber(const json::value& value, std::string_view name,
                                 std::uint64_t most) {
  boost::system::error_code problem;
  const auto number = value.to_number<std::uint64_t>(problem);
  if (problem || number == 0 || number > most)
    return Fail(ErrorCode::kInvalid, "{}: expected a whole number from 1 to {}", name, most);
  return number;
}

Result<Invite> ReadInvite(const json::object& body, WallTime now) {
  Invite invite;
  std::uint64_t life_ms = 3'600'000;
  for (const auto& field : body) {
    const std::string name(field.key());
    if (name == "uses") {
      const auto uses = ReadNumber(field.value(), name, 1'000'000);
      if (!uses) return Fail(uses.error());
      invite.uses_left = static_cast<std::uint32_t>(*uses);
    } else if (name == "expires_ms") {
      const auto ms = ReadNumber(field.value(), name, 365ULL * 86'400'000);
      if (!ms) return Fail(ms.error());
      life_ms = *ms;
    } else if (name == "replace" && field.value().is_bool()) {
      invite.replace = field.value().as_bool();
    } else if (name == "no_own_labels" && field.value().is_bool()) {
      invite.no_own_labels = field.value().as_bool();
    } else if (name == "labels") {
      auto labels = ReadLabels(field.value());
      if (!labels) return Fail(labels.error());
      invite.labels = std::move(*labels);
    } else if (name == "names") {
      auto names = ReadNames(field.value());
      if (!names) return Fail(names.error());
      invite.names = std::move(*names);
    } else {
      return Fail(ErrorCode::kInvalid,
                  "unknown field '{}'; expected uses, expires_ms, replace, labels, names, "
                  "no_own_labels",
                  name);
    }
  }
  invite.created = now;
  invite.expires = now + Duration(life_ms);
  return invite;
}

}  // namespace

void MakeInvite(Services& services, const CallPtr& call, Invite invite) {
  auto key = ReadCallKey(services, *call, "invite", kSecretBytes);
  if (!key) return call->Fail(key.error());
  const std::string secret = std::move(key->secret);
  invite.id = InviteId(secret);
  invite.created_by = call->actor().name;
  engine::CreateInvite command{.caller = CallerOf(*call),
                               .invite = std::move(invite),
                               .key = std::move(key->key),
                               .body_sha256 = std::move(key->body_sha256),
                               .known = std::move(key->known)};
  services.engine.Ask(
      std::move(command), [&services, call, secret](const Result<engine::InviteCreated>& answer) {
        if (!answer && answer.error().code == ErrorCode::kConflict)
          return call->Fail(422, "key_reused", answer.error().message);
        if (!answer) return call->Fail(answer.error());
        const auto& made = answer->invite;
        const Identity& identity = services.identity;
        call->Json(201, {{"token", FormatJoinToken({identity.ca_fingerprint, secret})},
                         {"id", made.id},
                         {"expires", FormatTime(made.expires)},
                         {"uses", made.uses_left},
                         {"replace", made.replace},
                         {"names", made.names},
                         {"no_own_labels", made.no_own_labels},
                         {"server", services.public_url}});
      });
}

namespace {

void CreateInvite(Services& services, const CallPtr& call) {
  const auto body =
      call->request().body.empty() ? Result<json::object>(json::object{}) : call->Body();
  if (!body) return call->Fail(body.error());
  auto invite = ReadInvite(*body, services.clock.Read().wall);
  if (!invite) return call->Fail(invite.error());
  MakeInvite(services, call, std::move(*invite));
}

struct JoinRequest {
  JoinToken token;
  std::string name;
  Labels labels;
  std::string request_pem;
};

Result<JoinRequest> ReadJoin(const json::object& body) {
  JoinRequest join;
  for (const auto& field : body) {
    const std::string name(field.key());
    if (name == "labels") {
      auto labels = ReadLabels(field.value());
      if (!labels) return Fail(labels.error());
      join.labels = std::move(*labels);
      continue;
    }
    if (!field.value().is_string()) return Fail(ErrorCode::kInvalid, "{}: expected a string", name);
    const std::string text(field.value().as_string());
    if (name == "token") {
      auto token = ParseJoinToken(text);
      if (!token) return Fail(token.error());
      join.token = std::move(*token);
    } else if (name == "name") {
      join.name = text;
    } else if (name == "request_pem") {
      join.request_pem = text;
    } else {
      return Fail(ErrorCode::kInvalid,
                  "unknown field '{}'; expected token, name, labels, request_pem", name);
    }
  }
  if (const auto fits = CheckHostName(join.name); !fits) return Fail(fits.error());
  if (join.request_pem.size() > kMostRequestPem)
    return Fail(ErrorCode::kInvalid, "request_pem: too long");
  return join;
}

// Signs after the engine has committed the host, so a certificate never exists for a host that does
// not.
void AnswerJoined(Services& services, Call& call, const std::string& request_pem,
                  const engine::HostJoined& joined) {
  const auto cert = SignForNode(services.identity, request_pem, joined.host.key, joined.host.name,
                                services.agent_life);
  if (!cert) return call.Fail(cert.error());
  call.Json(201, {{"cert_pem", *cert},
                  {"ca_pem", services.identity.trusted_pem},
                  {"host", joined.host.name},
                  {"host_id", joined.host.id.value},
                  {"cluster", joined.cluster}});
}

void AnswerWaits(Call& call, const PendingJoin& pending) {
  call.Json(202, {{"state", "pending"},
                  {"host", pending.name},
                  {"message", fmt::format("a host named '{0}' is known already with another key; "
                                          "to let this machine take its place, run "
                                          "'muster agents replace {0}'; to refuse it, run "
                                          "'muster agents reject {0}'",
                                          pending.name)},
                  {"key", pending.key},
                  {"ask_again_ms", kAskAgainMs}});
}

Error Rejection(const PendingJoin& join) {
  return {ErrorCode::kDenied,
          fmt::format("the join of '{}' was rejected {}; a new token ('muster agents invite') asks "
                      "again",
                      join.name, join.rejected)};
}

engine::Caller Newcomer(const Call& call) {
  engine::Caller caller = CallerOf(call);
  caller.name = "join";
  return caller;
}

// For a newcomer with a good invite.
void VerifyAndJoin(Services& services, const CallPtr& call, const JoinRequest& join) {
  const auto key = crypto::KeyIdOfRequest(join.request_pem);
  if (!key)
    return services.refusals.NoJoin(
        call, {ErrorCode::kInvalid, fmt::format("request_pem: {}", key.error().message)});
  engine::JoinHost command{.caller = Newcomer(*call),
                           .invite = InviteId(join.token.secret),
                           .name = join.name,
                           .key = *key,
                           .labels = join.labels};
  services.engine.Ask(std::move(command), [&services, call, pem = join.request_pem](
                                              const Result<engine::JoinHost::Answer>& answer) {
    if (!answer) return services.refusals.NoJoin(call, answer.error());
    if (const auto* waits = std::get_if<engine::JoinWaits>(&*answer))
      return AnswerWaits(*call, waits->pending);
    // It has shown a token and the key that waited, so it guesses nothing.
    if (const auto* rejected = std::get_if<engine::JoinRejected>(&*answer))
      return call->Fail(Rejection(rejected->pending));
    AnswerJoined(services, *call, pem, std::get<engine::HostJoined>(*answer));
  });
}

// The invite comes first: the certificate request is neither parsed nor verified for a caller
// without a good one.
void Join(AgentServices& services, const CallPtr& call) {
  Services& common = services.common;
  const auto body = call->Body();
  if (!body) return call->Fail(body.error());
  auto join = ReadJoin(*body);
  if (!join) return common.refusals.NoJoin(call, join.error());
  engine::CheckInvite question{
      .caller = Newcomer(*call), .invite = InviteId(join->token.secret), .name = join->name};
  common.engine.Ask(std::move(question),
                    [&services, call, join = std::move(*join)](const Result<engine::Done>& answer) {
                      if (!answer) return services.common.refusals.NoJoin(call, answer.error());
                      services.joins.Post(
                          InviteId(join.token.secret),
                          [&services, call, join] { VerifyAndJoin(services.common, call, join); },
                          [call] {
                            call->Fail(503, "unavailable", "the server is busy; try again shortly",
                                       {{"Retry-After", "1"}});
                          });
                    });
}

}  // namespace

std::vector<Route> AgentRoutes(AgentServices& services) {
  return {
      {"POST", "/api/v1/agents/invites", Privilege::kAdmin,
       [&common = services.common](const CallPtr& call) { CreateInvite(common, call); }},
      {"POST", "/api/v1/join", Privilege::kJoin,
       [&services](const CallPtr& call) { Join(services, call); }},
  };
}

}  // namespace muster::server::api
