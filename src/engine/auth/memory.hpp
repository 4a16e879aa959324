#pragma once

#include <map>
#include <string>

#include "domain/token.hpp"

namespace muster::engine {

struct AuthMemory {
  std::map<std::string, Token> tokens;  // by name; revoked ones for a while
};

}  // namespace muster::engine
