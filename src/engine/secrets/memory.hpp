#pragma once

#include <map>
#include <optional>
#include <string>

#include "domain/secret.hpp"

namespace muster::engine {

struct SecretMemory {
  // Those that were set in this term, without their values; nothing: removed.
  std::map<std::string, std::optional<Secret>, std::less<>> set;
};

}  // namespace muster::engine
