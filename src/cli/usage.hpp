#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace muster::cli {

// As it is typed: "muster hosts label".
std::string PathOf(const CLI::App& command);

// What to say about a command line that could not be read, after `root` has tried: what is wrong,
// what may have been meant, and where to read on. Lines end with a newline.
std::string ExplainUsage(const CLI::App& root, const CLI::ParseError& problem);

// Those of `known` that `typed` may have been meant for: it begins them, or differs by a slip or
// two.
std::vector<std::string> Similar(std::string_view typed, const std::vector<std::string>& known);

}  // namespace muster::cli
