#include "server/api/known_hosts.hpp"

#include "base/similar.hpp"

namespace muster::server::api {

std::string DidYouMeanHost(const LiveView& live, std::string_view name) {
  NearestName nearest(name);
  live.WithHosts([&](const std::vector<const Host*>& hosts, const auto&) {
    for (const Host* known : hosts) nearest.Offer(known->name);
  });
  return nearest.Hint();
}

Error NoSuchHost(const LiveView& live, std::string_view name) {
  return {ErrorCode::kNotFound, fmt::format("there is no host '{}'{}; see 'muster hosts'", name,
                                            DidYouMeanHost(live, name))};
}

}  // namespace muster::server::api
