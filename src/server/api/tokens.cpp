#include <boost/json.hpp>

#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"
#include "server/api/caller.hpp"
#include "server/api/keyed.hpp"
#include "server/api/routes.hpp"
#include "server/api/run_request.hpp"
#include "server/api/views.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kTokenSecretBytes = 24;
constexpr std::uint64_t kMostLifeMs = 3650ULL * 86'400'000;

json::object TokenView(const Token& token, WallTime now) {
  const char* state = token.revoked ? "revoked" : token.ExpiredAt(now) ? "expired" : "active";
  return {{"name", token.name},
          {"role", Name(token.role)},
          {"state", state},
          {"created", TimeView(token.created)},
          {"created_by", token.created_by},
          {"expires", TimeView(token.expires)},
          {"revoked", TimeView(token.revoked)},
          {"revoked_by", token.revoked_by}};
}

Result<Token> ReadToken(const json::object& body, WallTime now) {
  Token token;
  token.created = now;
  std::optional<Role> role;
  for (const auto& field : body) {
    const std::string name(field.key());
    const json::value& value = field.value();
    if (name == "name" && value.is_string()) {
      token.name = value.as_string();
    } else if (name == "role" && value.is_string()) {
      role = ParseRole(std::string_view(value.as_string()));
      if (!role) return Fail(ErrorCode::kInvalid, "role: expected viewer, operator or admin");
    } else if (name == "expires_ms") {
      boost::system::error_code problem;
      const auto ms = value.to_number<std::uint64_t>(problem);
      if (problem || ms == 0 || ms > kMostLifeMs)
        return Fail(ErrorCode::kInvalid, "expires_ms: expected milliseconds, at most ten years");
      token.expires = now + Duration(ms);
    } else {
      return Fail(ErrorCode::kInvalid, "unknown field '{}'; expected name, role, expires_ms", name);
    }
  }
  if (const auto fits = CheckTokenName(token.name); !fits) return Fail(fits.error());
  if (!role) return Fail(ErrorCode::kInvalid, "role: say viewer, operator or admin");
  token.role = *role;
  return token;
}

void CreateToken(Services& services, const CallPtr& call) {
  const auto body = call->Body();
  if (!body) return call->Fail(body.error());
  const WallTime now = services.clock.Read().wall;
  auto token = ReadToken(*body, now);
  if (!token) return call->Fail(token.error());
  auto key = ReadCallKey(services, *call, "token", kTokenSecretBytes);
  if (!key) return call->Fail(key.error());
  const std::string secret = "mst_" + key->secret;
  token->hash = crypto::Sha256(secret);
  token->created_by = call->actor().name;
  engine::CreateToken command{.caller = CallerOf(*call),
                              .token = std::move(*token),
                              .key = std::move(key->key),
                              .body_sha256 = std::move(key->body_sha256),
                              .known = std::move(key->known)};
  services.engine.Ask(std::move(command),
                      [call, secret, now](const Result<engine::CreateToken::Answer>& answer) {
                        if (!answer) return call->Fail(answer.error());
                        if (const auto* refused = std::get_if<engine::KeyRefused>(&*answer))
                          return call->Fail(422, "key_reused", refused->why);
                        auto view = TokenView(std::get<engine::TokenAnswer>(*answer).token, now);
                        view["token"] = secret;
                        call->Json(201, view);
                      });
}

void ListTokens(Services& services, const CallPtr& call) {
  const WallTime now = services.clock.Read().wall;
  json::array list;
  for (const auto& token : services.people.List()) list.push_back(TokenView(token, now));
  call->Json(200, {{"tokens", std::move(list)}});
}

void RevokeToken(Services& services, const CallPtr& call) {
  const auto body =
      call->request().body.empty() ? Result<json::object>(json::object{}) : call->Body();
  if (!body) return call->Fail(body.error());
  engine::RevokeToken command{.caller = CallerOf(*call), .name = call->Part("token"), .reason = {}};
  for (const auto& field : *body) {
    if (field.key() != "reason" || !field.value().is_string())
      return call->Fail(
          400, "invalid",
          fmt::format("unknown field '{}'; expected reason", std::string_view(field.key())));
    if (const auto fits = CheckReason(field.value().as_string()); !fits)
      return call->Fail(fits.error());
    command.reason = field.value().as_string();
  }
  if (command.name == kBootstrapAdmin)
    return call->Fail(
        409, "conflict",
        "the first admin's token is a file: stop musterd, remove DATA/admin.token and "
        "start it again, which makes a new one");
  services.engine.Ask(std::move(command),
                      [&services, call](const Result<engine::TokenAnswer>& answer) {
                        if (!answer) return call->Fail(answer.error());
                        call->Json(200, TokenView(answer->token, services.clock.Read().wall));
                      });
}

void WhoAmI(Services& services, const CallPtr& call) {
  const Actor& actor = call->actor();
  call->Json(200, {{"name", actor.name},
                   {"role", Name(actor.role)},
                   {"expires", TimeView(actor.expires)},
                   {"cluster", services.engine.GetStatus().cluster}});
}

}  // namespace

std::vector<Route> TokenRoutes(Services& services) {
  return {
      {"POST", "/api/v1/tokens", Privilege::kAdmin,
       [&services](const CallPtr& call) { CreateToken(services, call); }},
      {"GET", "/api/v1/tokens", Privilege::kAdmin,
       [&services](const CallPtr& call) { ListTokens(services, call); }},
      {"POST", "/api/v1/tokens/{token}/revoke", Privilege::kAdmin,
       [&services](const CallPtr& call) { RevokeToken(services, call); }, !kOnRecord, kUrgent},
      {"GET", "/api/v1/whoami", Privilege::kView,
       [&services](const CallPtr& call) { WhoAmI(services, call); }},
  };
}

}  // namespace muster::server::api
