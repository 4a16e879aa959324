#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace muster::cli {

// What to say about a command line that could not be read, after `root` has tried: what is wrong,
// what may have been meant, and where to read on. Lines end with a newline.
std::string ExplainUsage(const CLI::App& root, const CLI::ParseError& problem);

// What to say when a command was given the program's --version with a value, as if it were its own.
std::string ExplainVersion(const CLI::App& root);

// What to say about a value that was given and is empty, as an unset variable of a script leaves
// it; nothing when there is none. To take it for an option that was not given would widen what was
// meant: `-x ''` would leave out no host. Commands in no help are not looked at.
std::optional<std::string> ExplainEmpty(const CLI::App& root);

// Those of `known` that `typed` may have been meant for: it begins them, or differs by a slip or
// two.
std::vector<std::string> Similar(std::string_view typed, const std::vector<std::string>& known);

}  // namespace muster::cli
