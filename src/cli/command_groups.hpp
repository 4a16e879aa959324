#pragma once

#include <string>

#include "help/help_format.hpp"

namespace muster::cli {

// Sorts the commands of the program into the groups of `muster --help`.
void GroupCommands(CLI::App& root);

// `muster --help` has its commands in groups.
class GroupedHelp final : public help::HelpFormatter {
 public:
  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override;
};

}  // namespace muster::cli
