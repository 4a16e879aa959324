#pragma once

#include <string>
#include <vector>

#include "base/instant.hpp"
#include "base/result.hpp"
#include "domain/host.hpp"

namespace muster::agent {

// What a join brought.
struct Joined {
  std::string host;  // the name it has there
  std::string cluster;
  std::string key_pem;
  std::string cert_pem;
  std::string ca_pem;  // "" is the system's CAs
  // Not joined yet: somebody must decide first. Ask again, with the same key, after a while.
  bool waits = false;
  std::string message;  // what they must type
  Duration ask_again{};
};

struct JoinOptions {
  std::vector<std::string> servers;  // URLs; the first that can be reached is asked
  std::string token;                 // of 'muster agents invite'
  std::string name;
  Labels labels;
  std::string ca_pem;   // believe this CA instead of the token's fingerprint
  std::string key_pem;  // the key to join with; a new one when empty
};

// Makes a key, asks the server to sign it, and believes only a server whose CA the token (or
// ca_pem) names, or the system's CAs when it names none. Asked again, also at another server, with
// the same key, it is the same join. Blocks. The error says what to do.
Result<Joined> Join(const JoinOptions& options);

}  // namespace muster::agent
