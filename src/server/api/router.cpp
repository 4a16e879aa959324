#include "server/api/router.hpp"

#include <optional>
#include <utility>

#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"

namespace muster::server::api {
namespace {

std::optional<std::map<std::string, std::string>> Match(std::string_view pattern,
                                                        std::string_view path) {
  const auto wanted = Split(pattern, '/');
  const auto given = Split(path, '/');
  if (wanted.size() != given.size()) return std::nullopt;
  std::map<std::string, std::string> parts;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].starts_with('{'))
      parts[std::string(wanted[i].substr(1, wanted[i].size() - 2))] = given[i];
    else if (wanted[i] != given[i])
      return std::nullopt;
  }
  return parts;
}

}  // namespace

Router::Router(const Authenticator& authenticator, WorkerPool& workers)
    : authenticator_(authenticator), workers_(workers) {}

void Router::Add(std::vector<Route> routes) {
  for (auto& route : routes) routes_.push_back(std::move(route));
}

void Router::Handle(net::HttpRequest request, std::shared_ptr<net::HttpExchange> exchange) {
  const auto call =
      std::make_shared<Call>(std::move(request), std::move(exchange),
                             fmt::format("q{}-{}", next_request_++, ToHex(crypto::RandomBytes(4))));
  std::string allowed;
  for (const auto& route : routes_) {
    auto parts = Match(route.pattern, call->Path());
    if (!parts) continue;
    if (route.method != call->request().method) {
      allowed += (allowed.empty() ? "" : ", ") + route.method;
      continue;
    }
    if (route.privilege != "public" && route.privilege != "join") {
      auto actor = authenticator_.Check(net::FindHeader(call->request().headers, "Authorization"));
      if (!actor)
        return call->Fail(401, "unauthenticated",
                          "no valid token; send 'Authorization: Bearer TOKEN' (the admin token is "
                          "in DATA/admin.token)");
      call->SetActor(std::move(*actor));
    }
    call->SetParts(std::move(*parts));
    if (!workers_.Post([handle = &route.handle, call] { (*handle)(call); }))
      call->Fail(503, "unavailable", "the server is too busy; try again shortly");
    return;
  }
  if (!allowed.empty())
    return call->Fail(
        405, "invalid",
        fmt::format("{} is not allowed here; use {}", call->request().method, allowed));
  call->Fail(404, "not_found",
             fmt::format("there is no '{}' here; see /api/v1/openapi.yaml", call->Path()));
}

}  // namespace muster::server::api
