#pragma once

#include "cli/client/api_client.hpp"
#include "cli/context.hpp"
#include "cli/runs/job_start.hpp"

namespace muster::cli {

// Asks the person at the terminal for parameters that the job requires and that were not given, and
// adds them to `flags`. Asks nothing without a terminal, with --yes, or when the job cannot be read
// here: the server says what is missing then. False: the person gave up.
Result<bool> AskParams(const Context& context, ApiClient& api, StartFlags& flags);

}  // namespace muster::cli
