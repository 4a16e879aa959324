#pragma once

#include <string>
#include <vector>

#include "cli/context.hpp"

namespace muster::cli {

// Gives a command an -o of its own, which knows `more` beside the formats of every command:
// context.output is then one of them, and OutputFormat() says table.
void AddOutputOption(CLI::App& command, Context& context, const std::vector<std::string>& more);

// A line for each name.
void PrintNames(const std::vector<std::string>& names);

}  // namespace muster::cli
