#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace muster::cli {

// Lines of help are no longer than this, at every terminal.
inline constexpr std::size_t kHelpColumns = 80;

// `text` in lines of at most `width` columns, broken at spaces. A longer word stays whole.
std::vector<std::string> WrapWords(std::string_view text, std::size_t width);

// The footer of a command: lines behind "Examples:" are a command, two spaces or more, and what it
// does; a line with a deeper indent goes on with the one before it. What they do is aligned, below
// the command where there is no room beside it. Other lines are paragraphs, which are filled;
// indented ones stay as they are.
std::string LayOutFooter(std::string_view footer, std::size_t width = kHelpColumns);

// How every command prints its --help.
class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter();

  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_footer(const CLI::App* app) const override;
  std::string make_option(const CLI::Option* option, bool positional) const override;
};

// Sorts the commands of the program into the groups of `muster --help`.
void GroupCommands(CLI::App& root);

}  // namespace muster::cli
