#pragma once

#include <string>

#include "cli/client/api_client.hpp"

namespace muster::cli {

// `error`, of a call that chose hosts by `targets`: when they match no host it names the
// expression, and says so when no host has joined at all. Asks the server only then.
Error NamedNoMatch(ApiClient& api, const Error& error, const std::string& targets);

}  // namespace muster::cli
