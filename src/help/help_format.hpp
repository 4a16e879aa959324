#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace muster::help {

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
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter();

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_footer(const CLI::App* app) const override;
  std::string make_option_usage(const CLI::Option* option) const override;
  std::string make_option(const CLI::Option* option, bool positional) const override;

 protected:
  // The commands of `app` that are in `group`, under `title`: those of `names` first, in their
  // order.
  std::string CommandLines(const CLI::App& app, const std::string& group, std::string_view title,
                           std::span<const std::string_view> names) const;
};

// Lets `app` and the commands below it print their help so.
void UseHelpFormat(CLI::App& app);

}  // namespace muster::help
