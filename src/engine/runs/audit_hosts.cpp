#include "engine/runs/audit_hosts.hpp"

#include "domain/host_ranges.hpp"

namespace muster::engine {

std::vector<HostId> PutHosts(AuditEntry& entry, const Targets& targets, const Ordinals& hosts) {
  std::vector<std::string> names;
  std::vector<HostId> ids;
  names.reserve(hosts.Count());
  ids.reserve(hosts.Count());
  for (const std::uint32_t ordinal : hosts.List()) {
    names.push_back(targets[ordinal].name);
    ids.push_back(targets[ordinal].host);
  }
  entry.hosts = hosts.Count();
  entry.names = FoldHostNames(names, kMostAuditNames);
  return ids;
}

}  // namespace muster::engine
