#pragma once

#include <string>
#include <vector>

#include "domain/token.hpp"
#include "engine/kinds.hpp"

// What the server learns of API tokens.
namespace muster::engine {

// Whom to let in from now on.
struct TokenNews {
  std::vector<Token> tokens;         // made or changed
  std::vector<std::string> dropped;  // names that are forgotten
  bool all = false;                  // there are no others; those known before are gone
};

using NewsOfAuth = Kinds<TokenNews>;

}  // namespace muster::engine
