#pragma once

#include <string>

#include "cli/api_client.hpp"
#include "cli/context.hpp"
#include "cli/local_files.hpp"

namespace muster::cli {

// Hashes the plan's files, writes hash and size into their entries, and sends the server what it
// does not have yet; an upload that was cut goes on where it stood. Shows how far it is on a
// terminal. kUnavailable, kTimeout: the server was away too long; the same command goes on.
Result<> UploadAll(const Context& context, ApiClient& api, CopyPlan& plan);

}  // namespace muster::cli
