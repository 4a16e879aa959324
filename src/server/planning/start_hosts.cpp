#include "server/planning/start_hosts.hpp"

#include <set>

#include "domain/host_ranges.hpp"
#include "domain/targets.hpp"
#include "server/planning/resolve.hpp"

namespace muster::server {
namespace {

// Whether an expression depends on more than the hosts themselves.
bool NamesOthers(const std::string& targets) {
  const auto expression = TargetExpression::Parse(targets);
  return !expression || !expression->Groups().empty() || !expression->Runs().empty();
}

}  // namespace

std::string TargetsWithout(const std::string& targets, const std::string& exclude) {
  return exclude.empty() ? targets : fmt::format("({}) and not ({})", targets, exclude);
}

std::string FoldedNames(const Targets& targets) {
  std::vector<std::string> names;
  names.reserve(targets.size());
  for (const auto& target : targets) names.push_back(target.name);
  return FoldHostNames(names, kMostAuditNames);
}

Result<> CheckHosts(const LiveView& live, const documents::JobDocument& job, std::size_t hosts) {
  if (job.max_hosts && hosts > *job.max_hosts)
    return Fail(ErrorCode::kInvalid,
                "job '{}' is for at most {} hosts, and this start means {}; narrow it with -t, or "
                "raise max_hosts",
                job.name, *job.max_hosts, hosts);
  if (!job.max_percent) return {};
  std::size_t all = 0;
  live.WithHosts([&](const std::vector<const Host*>& list, const auto&) {
    for (const Host* host : list) all += host->state == HostState::kActive ? 1 : 0;
  });
  if (hosts * 100 > all * *job.max_percent)
    return Fail(ErrorCode::kInvalid,
                "job '{}' is for at most {}% of all hosts, and this start means {} of {}; narrow "
                "it with -t, or raise max_hosts",
                job.name, *job.max_percent, hosts, all);
  return {};
}

engine::FrozenHosts CountFrozen(const Inventory& inventory, std::span<const Freeze> freezes,
                                const Targets& targets) {
  engine::FrozenHosts frozen;
  for (const auto& freeze : freezes) {
    if (freeze.targets.empty()) continue;
    const auto meant = ResolveTargets(inventory, freeze.targets, "", {.ignore_missing = true});
    // Whom it means cannot be said now (its group is gone, the store does not answer): it is left
    // out, and so refuses.
    if (!meant && (meant.error().code != ErrorCode::kNotFound || NamesOthers(freeze.targets)))
      continue;
    std::uint32_t hosts = 0;
    if (meant) {
      std::set<HostId> ids;
      for (const auto& target : *meant->targets) ids.insert(target.host);
      for (const auto& target : targets) hosts += ids.contains(target.host) ? 1 : 0;
    }
    frozen[freeze.id] = hosts;
  }
  return frozen;
}

}  // namespace muster::server
