#pragma once

#include <string>

#include "help/help_format.hpp"

namespace muster::cli {

// Sorts the commands of the program into the groups of `muster --help`.
void GroupCommands(CLI::App& root);

// The names of the commands by group, a group on each line, within 80 columns.
std::string GroupedCommands(const CLI::App& root);

// `muster --help` has its commands in groups.
class GroupedHelp final : public help::HelpFormatter {
 public:
  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override;
};

}  // namespace muster::cli
