#pragma once

#include "cli/context.hpp"

namespace muster::cli {

// show, pause, resume, fire, skip, backfill.
void AddTriggerActs(CLI::App& triggers, Context& context, const char* examples);

}  // namespace muster::cli
