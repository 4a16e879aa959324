#pragma once

#include "cli/context.hpp"

namespace muster::cli {

// As timeout(1): the time to wait was over before the run.
inline constexpr int kExitTimedOut = 124;

// Commands about runs that were started elsewhere.
void AddWait(CLI::App& app, Context& context);
void AddAttach(CLI::App& app, Context& context);
void AddRerun(CLI::App& app, Context& context);

}  // namespace muster::cli
