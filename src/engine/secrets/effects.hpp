#pragma once

#include <string>
#include <vector>

#include "domain/secret.hpp"
#include "engine/kinds.hpp"

// What the server learns of secrets.
namespace muster::engine {

// What orders are filled in with from now on.
struct SecretNews {
  std::vector<Secret> secrets;       // set
  std::vector<std::string> dropped;  // names that are forgotten
};

using NewsOfSecrets = Kinds<SecretNews>;

}  // namespace muster::engine
