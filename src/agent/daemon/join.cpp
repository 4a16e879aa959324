#include "agent/daemon/join.hpp"

#include <algorithm>

#include <boost/json/src.hpp>

#include "adapters/crypto/pki.hpp"
#include "adapters/net/client.hpp"
#include "domain/join_token.hpp"

namespace muster::agent {
namespace {

namespace json = boost::json;

constexpr std::string_view kTokenOfOldCa =
    "if the CA of the server was changed after the token was made, make a new one with 'muster "
    "agents invite'";

Result<std::string> Field(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  if (value == nullptr || !value->is_string())
    return Fail(ErrorCode::kInternal, "the server's answer lacks '{}'", name);
  return std::string(value->as_string());
}

std::string ErrorMessage(const net::HttpResponse& response) {
  boost::system::error_code problem;
  const json::value body = json::parse(response.body, problem);
  if (!problem && body.is_object())
    if (const auto* error = body.as_object().if_contains("error");
        error != nullptr && error->is_object())
      if (const auto message = Field(error->as_object(), "message")) return *message;
  return fmt::format("the server answered {}", response.status);
}

ErrorCode CodeOf(int status) {
  // 429: others at this address were refused too often; this join was not looked at.
  if (status == 429 || status == 503 || status == 504) return ErrorCode::kUnavailable;
  if (status == 409) return ErrorCode::kConflict;
  return status == 403 || status == 401 ? ErrorCode::kDenied : ErrorCode::kInvalid;
}

Result<Joined> ReadAnswer(const net::HttpResponse& response) {
  boost::system::error_code problem;
  const json::value body = json::parse(response.body, problem);
  if (problem || !body.is_object())
    return Fail(ErrorCode::kInternal, "the server's answer is not JSON; is this a Muster server?");
  Joined joined;
  for (const auto& [name, field] :
       {std::pair("host", &joined.host), std::pair("cluster", &joined.cluster),
        std::pair("cert_pem", &joined.cert_pem), std::pair("ca_pem", &joined.ca_pem)}) {
    auto text = Field(body.as_object(), name);
    if (!text) return Fail(text.error());
    *field = std::move(*text);
  }
  return joined;
}

Result<Joined> ReadWait(const net::HttpResponse& response) {
  boost::system::error_code problem;
  const json::value body = json::parse(response.body, problem);
  if (problem || !body.is_object())
    return Fail(ErrorCode::kInternal, "the server's answer is not JSON; is this a Muster server?");
  Joined wait;
  wait.waits = true;
  wait.ask_again = std::chrono::seconds(5);
  if (auto message = Field(body.as_object(), "message")) wait.message = std::move(*message);
  if (const auto* ms = body.as_object().if_contains("ask_again_ms");
      ms != nullptr && ms->is_int64())
    wait.ask_again = std::clamp<Duration>(Duration(ms->get_int64()), std::chrono::seconds(1),
                                          std::chrono::minutes(5));
  return wait;
}

net::HttpRequest MakeCall(const JoinOptions& options, const std::string& request_pem) {
  json::object labels;
  for (const auto& [name, value] : options.labels) labels[name] = value;
  net::HttpRequest call;
  call.method = "POST";
  call.target = "/api/v1/join";
  call.headers = {{"Content-Type", "application/json"}};
  call.body = json::serialize(json::object{{"token", options.token},
                                           {"name", options.name},
                                           {"labels", std::move(labels)},
                                           {"request_pem", request_pem}});
  return call;
}

Result<net::Endpoint> EndpointOf(const std::string& server) {
  auto endpoint = net::ParseEndpoint(server);
  if (endpoint && !endpoint->tls)
    return Fail(ErrorCode::kInvalid, "{}: agents join over TLS; write https://…", server);
  return endpoint;
}

Result<Joined> Ask(const std::string& server, const net::TlsIdentity& identity,
                   const net::HttpRequest& call) {
  auto endpoint = EndpointOf(server);
  if (!endpoint) return Fail(endpoint.error());
  net::HttpClient client(std::move(*endpoint), identity);
  const auto response = client.Call(call);
  if (!response && response.error().code == ErrorCode::kDenied)
    return Fail(ErrorCode::kDenied, "{}; {}", response.error().message,
                identity.ca_pem.empty() ? kTokenOfOldCa : "or copy the server's ca.pem again");
  if (!response) return Fail(response.error());
  if (response->status == 202) return ReadWait(*response);
  if (response->status != 201)
    return Fail(CodeOf(response->status), "cannot join {}: {}", server, ErrorMessage(*response));
  return ReadAnswer(*response);
}

bool IsAway(const Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTimeout;
}

}  // namespace

Result<Joined> Join(const JoinOptions& options) {
  const auto token = ParseJoinToken(options.token);
  if (!token) return Fail(token.error());
  for (const auto& server : options.servers)
    if (const auto endpoint = EndpointOf(server); !endpoint) return Fail(endpoint.error());
  if (const auto fits = CheckHostName(options.name); !fits) return Fail(fits.error());
  const std::string key = options.key_pem.empty() ? crypto::GenerateKey() : options.key_pem;
  const auto request = crypto::MakeRequest(key, options.name);
  if (!request) return Fail(request.error());
  net::TlsIdentity identity;
  identity.ca_pem = options.ca_pem;
  if (options.ca_pem.empty()) identity.ca_fingerprint = token->ca_fingerprint;
  identity.cluster = true;
  const net::HttpRequest call = MakeCall(options, *request);
  Result<Joined> joined = Fail(ErrorCode::kInvalid, "name a server to join");
  for (const auto& server : options.servers) {
    joined = Ask(server, identity, call);
    if (joined || !IsAway(joined.error())) break;
  }
  if (!joined) return joined;
  joined->key_pem = key;
  return joined;
}

}  // namespace muster::agent
