#pragma once

#include <set>
#include <string>

#include "domain/run.hpp"

namespace muster {

// Names of the secrets that tasks of a run of the plan would be given, also those of the jobs it
// starts.
std::set<std::string> SecretsIn(const RunSpec& plan);

}  // namespace muster
