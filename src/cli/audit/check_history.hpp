#pragma once

#include "cli/context.hpp"

namespace muster::cli {

// Adds `history` to `muster check`.
void AddCheckHistory(CLI::App& check, Context& context);

}  // namespace muster::cli
