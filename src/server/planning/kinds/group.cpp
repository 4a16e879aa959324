#include <set>

#include "domain/host_ranges.hpp"
#include "server/planning/apply_warnings.hpp"
#include "server/planning/kind_rules.hpp"

namespace muster::server {
namespace {

std::string AboutGroup(const LiveView& live, const documents::GroupDocument& group,
                       const std::set<std::string>& declared) {
  std::vector<std::string> unknown;
  for (const auto& name : group.hosts)
    if (!declared.contains(name) && !live.HostIdOf(name)) unknown.push_back(name);
  if (unknown.empty()) return {};
  return fmt::format(
      "group {}: {} {} neither known nor declared by a document; runs on @{} leave {} out without "
      "a word until {}",
      group.name, FoldHostNames(unknown, ApplyWarnings::kMostUnknownNames),
      unknown.size() == 1 ? "is" : "are", group.name, unknown.size() == 1 ? "it" : "them",
      unknown.size() == 1 ? "it joins" : "they join");
}

void WarnOfGroup(ApplyWarnings& warnings, const documents::Document& document) {
  const auto& group = std::get<documents::GroupDocument>(document.body);
  if (group.hosts.empty() || warnings.Count() >= ApplyWarnings::kMostHostWarnings) return;
  warnings.Add(AboutGroup(warnings.inventory().live, group, warnings.DeclaredNames()));
}

}  // namespace

KindRules GroupRules() { return {.kind = documents::Kind::kGroup, .warn = WarnOfGroup}; }

}  // namespace muster::server
