#pragma once

#include "cli/context.hpp"

namespace muster::cli {

// Commands about documents that people apply, and about the jobs among them.
void AddApply(CLI::App& app, Context& context);
void AddGet(CLI::App& app, Context& context);
void AddJobs(CLI::App& app, Context& context);
void AddDelete(CLI::App& app, Context& context);
void AddStart(CLI::App& app, Context& context);

}  // namespace muster::cli
