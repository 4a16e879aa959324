#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace muster::help {

// What the manual pages of a program have beside the words of its --help.
struct Manual {
  std::string_view version;
  int section = 1;
  std::string_view sections = {};  // roff, at the end of the program's own page
};

// As it is typed: "muster hosts label".
std::string PathOf(const CLI::App& command);

// "muster-agents-invite": what the manual page of a command is called.
std::string ManualName(const CLI::App& command);

// The manual page of a command, in roff, from the same words as its --help: its description,
// options, commands below it, and footer ("Examples:" and what follows it).
std::string ManualPage(const CLI::App& command, const Manual& manual);

// Writes the pages of a command and of those below it, except hidden ones, into a folder, which is
// made if it is missing.
Result<> WriteManual(const CLI::App& command, const Manual& manual,
                     const std::filesystem::path& folder);

// Carries out `PROGRAM __man DIR`, which is in no help: packages and tests write the pages with it.
// Gives the exit code; nothing when the words are others.
std::optional<int> WriteManualIfAsked(const CLI::App& app, const Manual& manual, int argc,
                                      char** argv);

// What an option takes: "EXPR" of "EXPR", "N" of "N:INT in [1 - 9]", "table|json" of
// "TEXT:{table,json}".
std::string OptionValueName(const CLI::Option& option);

// How an argument without an option is named: "RUN".
std::string ArgumentName(const CLI::Option& option);

// `text` so that roff prints it as it is.
std::string RoffText(std::string_view text);

}  // namespace muster::help
