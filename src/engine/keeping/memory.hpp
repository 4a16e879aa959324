#pragma once

#include <map>
#include <optional>
#include <string>

#include "ports/store.hpp"

namespace muster::engine {

struct KeepingMemory {
  std::map<std::string, std::string> gates;  // closed ones, with their reasons
  std::optional<Snapshot::Restored> restored;
};

}  // namespace muster::engine
