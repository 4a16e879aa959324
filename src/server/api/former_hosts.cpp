#include "server/api/former_hosts.hpp"

#include <algorithm>
#include <utility>

#include "server/api/known_hosts.hpp"

namespace muster::server::api {
namespace {

constexpr std::size_t kMostFormer = 10'000;

// Adds `more` to `list`: newest first, each once, at most `limit`. False when some did not fit.
template <typename T, typename Key>
bool Merge(std::vector<T>& list, std::vector<T> more, Key key, std::size_t limit) {
  std::ranges::move(more, std::back_inserter(list));
  std::ranges::sort(list, std::ranges::greater(), key);
  const auto twice = std::ranges::unique(list, {}, key);
  list.erase(twice.begin(), twice.end());
  if (list.size() <= limit) return true;
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(limit), list.end());
  return false;
}

}  // namespace

Result<std::vector<HostId>> HostsNamed(Store& store, const std::string& name,
                                       std::optional<HostId> present) {
  std::vector<HostId> hosts;
  if (present) hosts.push_back(*present);
  const auto removed = store.ListRemovedHosts(name, kMostFormer);
  if (!removed) return Fail(removed.error());
  hosts.insert(hosts.end(), removed->begin(), removed->end());
  if (hosts.empty())
    return Fail(ErrorCode::kNotFound,
                "there is no host '{}', and the audit trail has no removal of one; what concerned "
                "one that was removed before that is found by its time (since, until)",
                name);
  return hosts;
}

Result<std::vector<HostId>> HostsNamed(Services& services, const std::string& name) {
  auto hosts = HostsNamed(services.store, name, services.live.HostIdOf(name));
  if (!hosts && hosts.error().code == ErrorCode::kNotFound)
    return Fail(ErrorCode::kNotFound, "{}{}", hosts.error().message,
                DidYouMeanHost(services.live, name));
  return hosts;
}

Result<std::vector<HostId>> HostsAsked(Services& services, const Call& call) {
  const auto& name = call.Query("host");
  if (name.empty()) return std::vector<HostId>();
  return HostsNamed(services, name);
}

Result<AuditPage> ListAuditOf(Store& store, const std::vector<HostId>& hosts, AuditFilter filter,
                              std::uint64_t before, std::size_t limit, const GoesOn& goes_on) {
  if (hosts.empty()) return store.ListAudit(filter, before, limit);
  AuditPage all;
  bool whole = true;
  for (const HostId host : hosts) {
    if (const auto on = goes_on(); !on) return Fail(on.error());
    filter.host = host;
    auto page = store.ListAudit(filter, before, limit);
    if (!page) return Fail(page.error());
    // Entries of this host below its `next` are not read yet, so the next page begins no lower.
    all.next = std::max(all.next, page->next);
    whole &= Merge(all.entries, std::move(page->entries), &AuditEntry::number, limit);
  }
  std::erase_if(all.entries, [&](const AuditEntry& entry) { return entry.number < all.next; });
  if (!whole && all.entries.size() == limit) all.next = all.entries.back().number;
  return all;
}

Result<std::vector<Run>> ListRunsOf(Store& store, const std::vector<HostId>& hosts,
                                    RunFilter filter, RunId before, std::size_t limit,
                                    const GoesOn& goes_on) {
  if (hosts.empty()) return store.ListRuns(filter, before, limit);
  std::vector<Run> all;
  for (const HostId host : hosts) {
    if (const auto on = goes_on(); !on) return Fail(on.error());
    filter.host = host;
    auto runs = store.ListRuns(filter, before, limit);
    if (!runs) return runs;
    Merge(all, std::move(*runs), &Run::id, limit);
  }
  return all;
}

}  // namespace muster::server::api
