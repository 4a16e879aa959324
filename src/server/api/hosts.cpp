#include <algorithm>
#include <set>

#include <boost/json.hpp>

#include "domain/host_ranges.hpp"
#include "server/api/known_hosts.hpp"
#include "server/api/missing.hpp"
#include "server/api/routes.hpp"
#include "server/api/views.hpp"
#include "server/planning/resolve.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

void ListHosts(Services& services, const CallPtr& call) {
  const auto limit = call->QueryNumber("limit", 500, 1, 5000);
  if (!limit) return call->Fail(limit.error());
  const auto from = call->QueryNumber("cursor", 0, 0, UINT32_MAX);
  if (!from) return call->Fail(from.error());
  auto hosts = services.live.Hosts();
  if (const auto& expression = call->Query("targets"); !expression.empty()) {
    const auto resolved =
        ResolveTargets(services.inventory(), expression, "", {.any_state = true}, GoOnFor(*call));
    if (!resolved)
      return resolved.error().code == ErrorCode::kNotFound
                 ? call->Fail(404, "no_match", resolved.error().message)
                 : call->Fail(resolved.error());
    std::set<HostId> wanted;
    for (const auto& target : *resolved->targets) wanted.insert(target.host);
    std::erase_if(hosts, [&](const auto& view) { return !wanted.contains(view.host.id); });
  }
  const Now now = services.clock.Read();
  const bool disk_full = services.keeper.GetStatus().disk_full;
  json::array list;
  for (std::size_t i = *from; i < hosts.size() && list.size() < *limit; ++i)
    list.push_back(HostView(hosts[i], now, disk_full));
  json::value next = nullptr;
  if (*from + list.size() < hosts.size()) next = std::to_string(*from + list.size());
  const auto online = std::ranges::count_if(hosts, [](const auto& view) { return view.online; });
  call->Json(200, {{"hosts", std::move(list)},
                   {"total", hosts.size()},
                   {"online", online},
                   {"next", std::move(next)}});
}

// Why no host of the name is known.
Error NotThere(Services& services, const std::string& name) {
  const auto never = services.declared.NeverJoined(services.live);
  if (never && std::ranges::find(**never, name, &Host::name) != (*never)->end())
    return {ErrorCode::kNotFound, NeverJoinedText({name})};
  return NoSuchHost(services.live, name);
}

void ShowHost(Services& services, const CallPtr& call) {
  const auto host = services.live.FindHost(call->Part("name"));
  if (!host) return call->Fail(NotThere(services, call->Part("name")));
  call->Json(200, HostView(*host, services.clock.Read(), services.keeper.GetStatus().disk_full));
}

void Resolve(Services& services, const CallPtr& call) {
  const auto body = call->Body();
  if (!body) return call->Fail(body.error());
  std::string targets;
  std::string exclude;
  bool ignore_missing = false;
  for (const auto& field : *body) {
    if (field.key() == "targets" && field.value().is_string())
      targets = field.value().as_string();
    else if (field.key() == "exclude" && field.value().is_string())
      exclude = field.value().as_string();
    else if (field.key() == "ignore_missing" && field.value().is_bool())
      ignore_missing = field.value().as_bool();
    else
      return call->Fail(400, "invalid",
                        fmt::format("unknown field '{}'; expected targets, exclude, ignore_missing",
                                    std::string_view(field.key())));
  }
  const auto resolved = ResolveTargets(services.inventory(), targets, exclude,
                                       {.ignore_missing = ignore_missing}, GoOnFor(*call));
  if (!resolved)
    return resolved.error().code == ErrorCode::kNotFound
               ? call->Fail(404, "no_match", resolved.error().message)
               : call->Fail(resolved.error());
  std::vector<std::string> names;
  for (const auto& target : *resolved->targets) names.push_back(target.name);
  json::array sample;
  for (std::size_t i = 0; i < names.size() && i < 20; ++i) sample.emplace_back(names[i]);
  call->Json(200, {{"count", names.size()},
                   {"names", FoldHostNames(names, 4000)},
                   {"sample", std::move(sample)},
                   {"offline_count", resolved->offline.size()},
                   {"says_all", resolved->says_all}});
}

}  // namespace

std::vector<Route> HostRoutes(Services& services) {
  return {
      {"GET", "/api/v1/hosts", Privilege::kView,
       [&services](const CallPtr& call) { ListHosts(services, call); }},
      {"GET", "/api/v1/hosts/{name}", Privilege::kView,
       [&services](const CallPtr& call) { ShowHost(services, call); }},
      {"GET", "/api/v1/missing", Privilege::kView,
       [&services](const CallPtr& call) { ListMissing(services, call); }},
      {"POST", "/api/v1/hosts/resolve", Privilege::kView,
       [&services](const CallPtr& call) { Resolve(services, call); }},
  };
}

}  // namespace muster::server::api
