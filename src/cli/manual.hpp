#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace muster::cli {

// "muster-agents-invite": what the manual page of a command is called.
std::string ManualName(const CLI::App& command);

// The manual page of a command, in roff, from the same words as its --help: its description,
// options, commands below it, and footer ("Examples:" and what follows it).
std::string ManualPage(const CLI::App& command, std::string_view version);

// What an option takes: "EXPR" of "EXPR", "table|json" of "TEXT:{table,json}".
std::string OptionValueName(const CLI::Option& option);

// `text` so that roff prints it as it is.
std::string RoffText(std::string_view text);

}  // namespace muster::cli
