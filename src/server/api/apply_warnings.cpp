#include "server/api/apply_warnings.hpp"

#include <optional>
#include <set>

#include "domain/host_ranges.hpp"
#include "domain/targets.hpp"

namespace muster::server::api {
namespace {

constexpr std::size_t kMostUnknownNames = 500;  // bytes
constexpr std::size_t kMostHostWarnings = 20;

// Names of hosts that documents declare: these, and those that are kept and never joined.
std::set<std::string> DeclaredNames(Services& services,
                                    const std::vector<documents::Document>& puts) {
  std::set<std::string> names;
  for (const auto& document : puts)
    if (documents::KindOf(document) == documents::Kind::kHost)
      names.insert(documents::NameOf(document));
  if (const auto never = services.declared.NeverJoined(services.live))
    for (const auto& host : **never) names.insert(host.name);
  return names;
}

std::string AboutGroup(const Services& services, const documents::GroupDocument& group,
                       const std::set<std::string>& declared) {
  std::vector<std::string> unknown;
  for (const auto& name : group.hosts)
    if (!declared.contains(name) && !services.live.HostIdOf(name)) unknown.push_back(name);
  if (unknown.empty()) return {};
  return fmt::format(
      "group {}: {} {} neither known nor declared by a document; runs on @{} leave {} out without "
      "a word until {}",
      group.name, FoldHostNames(unknown, kMostUnknownNames), unknown.size() == 1 ? "is" : "are",
      group.name, unknown.size() == 1 ? "it" : "them",
      unknown.size() == 1 ? "it joins" : "they join");
}

// Only of targets that are names alone: a pattern or a label may be of no host for now.
std::string AboutTargets(const Services& services, const TriggerSpec& spec,
                         const std::set<std::string>& declared) {
  const auto targets = TargetExpression::Parse(spec.targets);
  const auto names = targets ? targets->OnlyNames() : std::nullopt;
  if (!names) return {};
  std::vector<std::string> unknown;
  for (const auto& name : *names)
    if (!declared.contains(name) && !services.live.HostIdOf(name)) unknown.push_back(name);
  if (unknown.empty()) return {};
  return fmt::format(
      "trigger {}: {} {} neither known nor declared by a document; it starts nothing until {}",
      spec.name, FoldHostNames(unknown, kMostUnknownNames), unknown.size() == 1 ? "is" : "are",
      unknown.size() == 1 ? "it joins" : "they join");
}

std::string AboutMoment(Services& services, const TriggerSpec& spec) {
  if (!spec.once || spec.once > services.clock.Read().wall) return {};
  // One that is applied again has done its work, or was warned of.
  const auto kept = services.store.FindTrigger(spec.name);
  if (kept && kept->value && kept->value->spec.once == spec.once) return {};
  return fmt::format("trigger {}: its only moment, {}, has passed: it starts nothing", spec.name,
                     FormatTime(spec.once));
}

}  // namespace

std::vector<std::string> ApplyWarnings(Services& services,
                                       const std::vector<documents::Document>& puts) {
  std::vector<std::string> warnings;
  std::optional<std::set<std::string>> declared;
  const auto names = [&]() -> const std::set<std::string>& {
    if (!declared) declared = DeclaredNames(services, puts);
    return *declared;
  };
  const auto add = [&](std::string about) {
    if (!about.empty()) warnings.push_back(std::move(about));
  };
  for (const auto& document : puts) {
    const bool more = warnings.size() < kMostHostWarnings;
    if (const auto* trigger = std::get_if<documents::TriggerDocument>(&document.body)) {
      add(AboutMoment(services, trigger->spec));
      if (!trigger->spec.targets.empty() && more)
        add(AboutTargets(services, trigger->spec, names()));
    }
    const auto* group = std::get_if<documents::GroupDocument>(&document.body);
    if (group != nullptr && !group->hosts.empty() && more)
      add(AboutGroup(services, *group, names()));
  }
  return warnings;
}

}  // namespace muster::server::api
