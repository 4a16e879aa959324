#pragma once

#include <map>
#include <string>

#include "server/planning/applied_set.hpp"

namespace muster::server {

// Complains of parameters that the job, if it is there, does not have, and of those that it needs
// and is not given. The document starts it.
Result<> CheckStart(AppliedSet& set, const documents::Document& document, const std::string& job,
                    const std::map<std::string, std::string>& params);

}  // namespace muster::server
