#include <boost/json.hpp>

#include "base/text.hpp"
#include "server/api/caller.hpp"
#include "server/api/routes.hpp"
#include "server/api/views.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

json::object SecretView(const Secret& secret) {
  return {{"name", secret.name},
          {"version", secret.version},
          {"by", secret.by},
          {"at", TimeView(secret.at)}};
}

// Messages repeat nothing of the body: it is a secret, or nearly one.
Result<SecretText> ReadValue(const CallPtr& call) {
  const auto body = call->Body();
  const json::value* field = body ? body->if_contains("value_base64") : nullptr;
  if (field == nullptr || !field->is_string() || body->size() != 1)
    return Fail(ErrorCode::kInvalid, "expected an object with value_base64 and nothing else");
  auto value = FromBase64(std::string_view(field->as_string()));
  if (!value) return Fail(ErrorCode::kInvalid, "value_base64: expected base64");
  auto secret = SecretText::Take(*value);
  if (const auto good = CheckSecretValue(secret.Reveal()); !good) return Fail(good.error());
  return secret;
}

void Answer(const CallPtr& call, const Result<engine::SecretAnswer>& answer) {
  if (!answer) return call->Fail(answer.error());
  call->Json(200, SecretView(answer->secret));
}

void SetSecret(SecretServices& services, const CallPtr& call) {
  const std::string name = call->Part("name");
  if (const auto good = CheckSecretName(name); !good) return call->Fail(good.error());
  const auto value = ReadValue(call);
  if (!value) return call->Fail(value.error());
  auto known = services.store.FindSecret(name);
  if (!known) return call->Fail(known.error());
  engine::SetSecret command{.caller = CallerOf(*call),
                            .name = name,
                            .sealed = services.sealer.Seal(name, value->Reveal()),
                            .known = std::move(*known)};
  services.engine.Ask(std::move(command),
                      [call](const Result<engine::SecretAnswer>& answer) { Answer(call, answer); });
}

void RemoveSecret(SecretServices& services, const CallPtr& call) {
  const std::string name = call->Part("name");
  auto known = services.store.FindSecret(name);
  if (!known) return call->Fail(known.error());
  engine::RemoveSecret command{.caller = CallerOf(*call), .name = name, .known = std::move(*known)};
  services.engine.Ask(std::move(command),
                      [call](const Result<engine::SecretAnswer>& answer) { Answer(call, answer); });
}

void ListSecrets(SecretServices& services, const CallPtr& call) {
  const auto secrets = services.store.ListSecrets();
  if (!secrets) return call->Fail(secrets.error());
  json::array list;
  for (const auto& secret : *secrets) list.push_back(SecretView(secret));
  call->Json(200, {{"secrets", std::move(list)}});
}

}  // namespace

std::vector<Route> SecretRoutes(SecretServices& services) {
  return {
      {"GET", "/api/v1/secrets", Privilege::kOperate,
       [&services](const CallPtr& call) { ListSecrets(services, call); }, kOnRecord},
      {"PUT", "/api/v1/secrets/{name}", Privilege::kAdmin,
       [&services](const CallPtr& call) { SetSecret(services, call); }},
      {"DELETE", "/api/v1/secrets/{name}", Privilege::kAdmin,
       [&services](const CallPtr& call) { RemoveSecret(services, call); }},
  };
}

}  // namespace muster::server::api
