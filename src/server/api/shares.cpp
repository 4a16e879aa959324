#include "server/api/shares.hpp"

#include <map>
#include <set>

namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostValues = 20;
constexpr std::size_t kMostKeys = 10;

struct Share {
  std::uint32_t meant = 0;
  std::uint32_t all = 0;
};
using Values = std::map<std::string, Share, std::less<>>;

}  // namespace

json::object SharesView(Services& services, const Targets& targets) {
  std::set<HostId> ids;
  for (const auto& target : targets) ids.insert(target.host);
  std::map<std::string, Values, std::less<>> keys;
  services.live.WithHosts([&](const std::vector<const Host*>& hosts, const auto&) {
    for (const Host* host : hosts) {
      if (host->state != HostState::kActive) continue;
      for (const auto& [key, value] : host->labels) {
        Values& values = keys[key];
        if (values.size() > kMostValues) continue;
        Share& share = values[value];
        ++share.all;
        if (ids.contains(host->id)) ++share.meant;
      }
    }
  });
  json::object view;
  for (const auto& [key, values] : keys) {
    if (values.size() > kMostValues || view.size() == kMostKeys) continue;
    json::object shares;
    for (const auto& [value, share] : values)
      if (share.meant > 0) shares[value] = json::object{{"hosts", share.meant}, {"of", share.all}};
    if (!shares.empty()) view[key] = std::move(shares);
  }
  return view;
}

}  // namespace muster::server::api
