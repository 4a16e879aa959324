#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "domain/run.hpp"
#include "server/api/services.hpp"

// A run gives its secrets to every host it means. Where a host decides itself whether it is meant,
// it decides whether it gets them.
namespace muster::server::api {

struct SecretTargets {
  const RunSpec& plan;
  const std::string& targets;  // expression; "" has nothing to say yet
  const std::string& exclude;
  const Targets* hosts = nullptr;  // what it means now; nullptr: not asked, any host counts
};

// Sentences for people: the plan uses secrets, and its hosts are chosen by facts, or by labels that
// hosts chose themselves at their join. None when all is well, or the expression cannot be read.
std::vector<std::string> SecretWarnings(Services& services, const SecretTargets& about);

// kNotFound names a secret that the plan gives to its tasks, and that there is not. With `hints` it
// may name another one that is spelled alike: only for callers who may list secrets.
enum class SecretHints : std::uint8_t { kNone, kNearest };
Result<> CheckSecrets(Services& services, const RunSpec& plan, SecretHints hints);

// Adds `warnings` to an answer, when there are some.
void AddWarnings(boost::json::object& answer, const std::vector<std::string>& warnings);

}  // namespace muster::server::api
