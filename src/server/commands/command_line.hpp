#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "server/settings/config.hpp"

namespace CLI {
class App;
}

// What the commands of musterd share.
namespace muster::server {

// Says what is wrong, and the exit code for it.
int Complain(const Error& error);

// Reads the words of a command, which prints its help as every program does. Gives the exit code
// when nothing is left to do: for --help, for wrong words, and for `__man DIR` (help/manual.hpp).
std::optional<int> ParseWords(CLI::App& app, int argc, char** argv);

// The settings of the server: flags over variables over the file, as for the server itself. "" is a
// flag that was not given.
Result<Config> SettingsOf(const std::string& data, const std::string& config_file);

// Tells at a terminal, on one line of its own, how far a copy is; nothing elsewhere.
std::function<void(std::string_view what, std::uint64_t rows)> ProgressLine();
// Takes the line away.
void EndProgress();

}  // namespace muster::server
