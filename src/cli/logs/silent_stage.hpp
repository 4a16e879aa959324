#pragma once

#include <string>

#include "cli/client/api_client.hpp"

namespace muster::cli {

// Where the output of a stage is that has none of its own: in its inner stages, or in runs that it
// started. `host` may be "": of any. "" when the stage is neither.
std::string WhereOutputIs(ApiClient& api, const std::string& run, const std::string& stage,
                          const std::string& host);

}  // namespace muster::cli
