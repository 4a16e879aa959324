#include "server/api/missing.hpp"

#include <map>

#include <boost/json.hpp>

#include "domain/host_ranges.hpp"
#include "server/api/views.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kHostsPage = 500;

struct Missing {
  std::string state;  // "never_joined", "offline", "revoked", "copy"
  bool declared = false;
  WallTime since;
  WallTime last_seen;
  Labels labels;
};

struct Order {
  bool operator()(const std::string& a, const std::string& b) const { return NaturalLess(a, b); }
};
using MissingHosts = std::map<std::string, Missing, Order>;

Result<MissingHosts> Declared(Store& store) {
  MissingHosts hosts;
  std::string after;
  while (true) {
    const auto page = store.ListDocumentHeads("host", after, kHostsPage);
    if (!page) return Fail(page.error());
    for (const auto& head : *page)
      hosts[head.name] = {.state = "never_joined",
                          .declared = true,
                          .since = head.at,
                          .last_seen = {},
                          .labels = head.labels};
    if (page->size() < kHostsPage) return hosts;
    after = page->back().name;
  }
}

std::string StateOf(const Host& host) {
  return host.state == HostState::kActive ? "offline" : std::string(Name(host.state));
}

void Compare(MissingHosts& hosts, const LiveView::HostView& view) {
  const Host& host = view.host;
  if (view.online) {
    hosts.erase(host.name);
    return;
  }
  const auto declared = hosts.find(host.name);
  if (host.state == HostState::kRevoked && declared == hosts.end()) return;
  const WallTime seen = std::max(host.last_hello, host.joined);
  hosts[host.name] = {.state = StateOf(host),
                      .declared = declared != hosts.end(),
                      .since = seen,
                      .last_seen = host.last_hello,
                      .labels = host.labels};
}

json::object ViewOf(const std::string& name, const Missing& host) {
  json::object labels;
  for (const auto& [key, value] : host.labels) labels[key] = value;
  return {{"name", name},
          {"state", host.state},
          {"declared", host.declared},
          {"since", TimeView(host.since)},
          {"last_seen", TimeView(host.last_seen)},
          {"labels", std::move(labels)}};
}

}  // namespace

void ListMissing(Services& services, const CallPtr& call) {
  const auto limit = call->QueryNumber("limit", 500, 1, 5000);
  if (!limit) return call->Fail(limit.error());
  const auto from = call->QueryNumber("cursor", 0, 0, UINT32_MAX);
  if (!from) return call->Fail(from.error());
  auto hosts = Declared(services.store);
  if (!hosts) return call->Fail(hosts.error());
  for (const auto& view : services.live.Hosts()) Compare(*hosts, view);
  json::array list;
  std::size_t number = 0;
  for (const auto& [name, host] : *hosts)
    if (number++ >= *from && list.size() < *limit) list.push_back(ViewOf(name, host));
  json::value next = nullptr;
  if (*from + list.size() < hosts->size()) next = std::to_string(*from + list.size());
  call->Json(200,
             {{"hosts", std::move(list)}, {"total", hosts->size()}, {"next", std::move(next)}});
}

}  // namespace muster::server::api
