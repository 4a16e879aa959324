#include "engine/runs/needs.hpp"

#include <algorithm>

#include "domain/features.hpp"
#include "engine/runs/stage_order.hpp"

namespace muster::engine {

std::vector<std::string> NeedsOf(const muster::Command& command) {
  std::vector<std::string> needs;
  for (const Resource resource : LimitedOf(command.resources)) needs.push_back(Feature(resource));
  if (command.MovesFiles()) needs.emplace_back(kFeatureFiles);
  if (command.reboot) needs.emplace_back(kFeatureReboot);
  return needs;
}

std::optional<std::string> WhatLacks(const muster::Command& command, const HostEntry& host) {
  for (const Resource resource : LimitedOf(command.resources))
    if (std::ranges::find(host.features, Feature(resource)) == host.features.end())
      return fmt::format(
          "host {} cannot limit {}: no cgroup controller for it is open to its agent, whose log "
          "says why",
          host.host.name, Name(resource));
  const auto lacks = [&](const char* feature) {
    return std::ranges::find(host.features, feature) == host.features.end();
  };
  if (command.MovesFiles() && lacks(kFeatureFiles))
    return fmt::format("the agent of host {} is too old to move files; upgrade it", host.host.name);
  if (command.reboot && lacks(kFeatureReboot))
    return fmt::format("the agent of host {} cannot restart its host; upgrade it", host.host.name);
  return std::nullopt;
}

}  // namespace muster::engine
