#pragma once

#include <set>
#include <string>

#include "domain/run.hpp"

namespace muster {

// Names of the secrets that tasks of a run of the plan would be given, also those of the jobs it
// starts.
std::set<std::string> SecretsIn(const RunSpec& plan);

// What a run of the plan uses and does not bring: those secrets, and of its stages and those of the
// jobs it starts the secrets in requests, and the channels that they tell.
struct PlanUses {
  std::set<std::string> secrets;
  std::set<std::string> channels;
};
PlanUses UsesOf(const RunSpec& plan);

}  // namespace muster
