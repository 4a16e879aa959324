#pragma once

#include "cli/context.hpp"

namespace muster::cli {

// import rundeck: what other tools keep, as documents.
void AddImport(CLI::App& app, Context& context);

}  // namespace muster::cli
