#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "domain/run.hpp"
#include "ports/store.hpp"
#include "server/live/live_view.hpp"

// A run gives its secrets to every host it means. Where a host decides itself whether it is meant,
// it decides whether it gets them.
namespace muster::server {

struct SecretTargets {
  const RunSpec& plan;
  const std::string& targets;  // expression; "" has nothing to say yet
  const std::string& exclude;
  const Targets* hosts = nullptr;  // what it means now; nullptr: not asked, any host counts
};

// Sentences for people: the plan uses secrets, and its hosts are chosen by facts, or by labels that
// hosts chose themselves at their join. None when all is well, or the expression cannot be read.
std::vector<std::string> SecretWarnings(Store& store, const LiveView& live,
                                        const SecretTargets& about);

// kNotFound names a secret that the plan gives to its tasks, and that there is not. With `hints` it
// may name another one that is spelled alike: only for callers who may list secrets.
enum class SecretHints : std::uint8_t { kNone, kNearest };
Result<> CheckSecrets(Store& store, const RunSpec& plan, SecretHints hints);

}  // namespace muster::server
