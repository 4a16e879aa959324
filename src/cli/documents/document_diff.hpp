#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/client/api_client.hpp"

namespace muster::cli {

// Prints how the second of two versions of a document differs from the first: its text, the
// scripts that came with it and the files it pushes. With one version, the newest is the second.
// Gives the exit code; kNotFound when a version is not there.
Result<int> PrintVersionsDiff(const Context& context, ApiClient& api, const std::string& kind,
                              const std::string& name, const std::vector<std::uint32_t>& versions);

}  // namespace muster::cli
