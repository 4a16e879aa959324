#include "server/planning/apply_warnings.hpp"

#include <set>

#include "domain/host_ranges.hpp"

namespace muster::server {
namespace {

constexpr std::size_t kMostUnknownNames = 500;  // bytes
constexpr std::size_t kMostGroupWarnings = 20;

// Names of hosts that documents declare: these, and those that are kept and never joined.
std::set<std::string> DeclaredNames(const Inventory& inventory,
                                    const std::vector<documents::Document>& puts) {
  std::set<std::string> names;
  for (const auto& document : puts)
    if (documents::KindOf(document) == documents::Kind::kHost)
      names.insert(documents::NameOf(document));
  if (const auto never = inventory.declared.NeverJoined(inventory.live))
    for (const auto& host : **never) names.insert(host.name);
  return names;
}

std::string AboutGroup(const LiveView& live, const documents::GroupDocument& group,
                       const std::set<std::string>& declared) {
  std::vector<std::string> unknown;
  for (const auto& name : group.hosts)
    if (!declared.contains(name) && !live.HostIdOf(name)) unknown.push_back(name);
  if (unknown.empty()) return {};
  return fmt::format(
      "group {}: {} {} neither known nor declared by a document; runs on @{} leave {} out without "
      "a word until {}",
      group.name, FoldHostNames(unknown, kMostUnknownNames), unknown.size() == 1 ? "is" : "are",
      group.name, unknown.size() == 1 ? "it" : "them",
      unknown.size() == 1 ? "it joins" : "they join");
}

std::string AboutTrigger(Store& store, WallTime now, const TriggerSpec& spec) {
  if (!spec.once || spec.once > now) return {};
  // One that is applied again has done its work, or was warned of.
  const auto kept = store.FindTrigger(spec.name);
  if (kept && kept->value && kept->value->spec.once == spec.once) return {};
  return fmt::format("trigger {}: its only moment, {}, has passed: it starts nothing", spec.name,
                     FormatTime(spec.once));
}

}  // namespace

std::vector<std::string> ApplyWarnings(const Inventory& inventory, WallTime now,
                                       const std::vector<documents::Document>& puts) {
  std::vector<std::string> warnings;
  std::optional<std::set<std::string>> declared;
  for (const auto& document : puts) {
    std::string about;
    if (const auto* trigger = std::get_if<documents::TriggerDocument>(&document.body))
      about = AboutTrigger(inventory.store, now, trigger->spec);
    const auto* group = std::get_if<documents::GroupDocument>(&document.body);
    if (group != nullptr && !group->hosts.empty() && warnings.size() < kMostGroupWarnings) {
      if (!declared) declared = DeclaredNames(inventory, puts);
      about = AboutGroup(inventory.live, *group, *declared);
    }
    if (!about.empty()) warnings.push_back(std::move(about));
  }
  return warnings;
}

}  // namespace muster::server
