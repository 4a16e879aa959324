#include "engine/runs/needs.hpp"

#include <algorithm>

namespace muster::engine {

std::vector<std::string> NeedsOf(const muster::Command& command) {
  std::vector<std::string> needs;
  for (const Resource resource : LimitedOf(command.resources)) needs.push_back(Feature(resource));
  return needs;
}

std::optional<std::string> WhatLacks(const muster::Command& command, const HostEntry& host) {
  for (const Resource resource : LimitedOf(command.resources))
    if (std::ranges::find(host.features, Feature(resource)) == host.features.end())
      return fmt::format(
          "host {} cannot limit {}: no cgroup controller for it is open to its agent, whose log "
          "says why",
          host.host.name, Name(resource));
  return std::nullopt;
}

}  // namespace muster::engine
