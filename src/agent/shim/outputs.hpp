#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::agent {

// What a task wrote to $MUSTER_OUTPUT, as its end tells it (domain/outputs.hpp has the bounds).
struct Outputs {
  std::vector<std::pair<std::string, std::string>> pairs;  // the last of equal names, in the
                                                           // first's place
  std::string problem;  // "2 lines of $MUSTER_OUTPUT were left out: …", or ""
};

// Reads `text`, lines of name=value; a value is everything up to the line's end and must be UTF-8
// without NUL. Secrets in `masks` become "***" first, also such as span lines. Empty lines mean
// nothing; whatever else is no output is left out and counted. Of `text` only the first
// kMaxOutputBytes are looked at, so a caller need not read more than one byte past them.
Outputs ParseOutputs(std::string_view text, const std::vector<std::string>& masks);

// The same of a task's file. Without one there are no outputs.
Outputs ReadOutputs(const std::string& path, const std::vector<std::string>& masks);

}  // namespace muster::agent
