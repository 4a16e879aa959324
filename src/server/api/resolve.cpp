#include "server/api/resolve.hpp"

#include <algorithm>
#include <set>

#include "domain/host_ranges.hpp"
#include "server/api/target_lookup.hpp"

namespace muster::server::api {
namespace {

TargetLookup LookupIn(Services& services, const Call* call = nullptr) {
  const auto go_on = [call] { return call != nullptr ? call->GoesOn() : Result<>{}; };
  return {services.store,
          [&services](const TargetLookup::SeeHosts& see) {
            services.live.WithHosts(
                [&see](const std::vector<const Host*>& hosts, const auto&) { see(hosts); });
          },
          go_on};
}

}  // namespace

Result<Resolved> ResolveTargets(Services& services, const std::string& expression,
                                const std::string& exclude, ResolveOptions options,
                                const Call* call) {
  auto lookup = LookupIn(services, call);
  auto wanted = lookup.Parse(expression);
  if (!wanted) return Fail(wanted.error());
  Resolved resolved;
  resolved.says_all = wanted->SaysAll();
  if (!exclude.empty()) {
    auto unwanted = lookup.Parse(exclude);
    if (!unwanted) return Fail(unwanted.error());
    wanted = std::move(*wanted).Without(std::move(*unwanted));
  }
  auto targets = std::make_shared<Targets>();
  std::set<HostId> offline;
  Result<> ok;
  services.live.WithHosts(
      [&](const std::vector<const Host*>& hosts, const std::function<bool(HostId)>& online) {
        const auto matching = wanted->Resolve(hosts, lookup, options);
        if (!matching) {
          ok = Fail(matching.error());
          return;
        }
        for (const auto index : *matching) {
          targets->push_back({hosts[index]->id, hosts[index]->name});
          if (!online(hosts[index]->id)) offline.insert(hosts[index]->id);
        }
      },
      wanted->OnlyNames());
  if (!ok) return Fail(ok.error());
  std::ranges::sort(*targets,
                    [](const Target& a, const Target& b) { return NaturalLess(a.name, b.name); });
  for (const auto& target : *targets)
    if (offline.contains(target.host)) resolved.offline.push_back(target.name);
  resolved.targets = std::move(targets);
  resolved.group_authors = lookup.Authors();
  return resolved;
}

std::set<std::string> GroupAuthors(Services& services, const std::string& expression) {
  auto lookup = LookupIn(services);
  static_cast<void>(lookup.Parse(expression));
  return lookup.Authors();
}

}  // namespace muster::server::api
