#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace muster::server {

// What is wrong with documents that name others of their kind: jobs that start jobs, groups that
// are made of groups.
struct NestingProblem {
  enum class Kind : std::uint8_t { kCircle, kTooDeep };

  Kind kind;
  // Names that lead to each other, the first one among those that were asked about. Of a circle,
  // the last leads to the first.
  std::vector<std::string> way;
};

// The names that a document refers to; none when there is no such document.
using NamesBelow = std::function<Result<std::vector<std::string>>(const std::string& name)>;

// Follows `names` down in one search that visits each document once, however many of the names lead
// to it. Finds circles that have one of the names in them, and names with more than `deepest`
// levels below them; a few problems, not all. Errors are those of `below`.
Result<std::vector<NestingProblem>> CheckNesting(std::span<const std::string> names,
                                                 std::size_t deepest, const NamesBelow& below);

// "a -> b -> c", with `before` in front of each name. A long way is cut: its beginning says enough.
std::string WayText(std::span<const std::string> way, std::string_view before = "");

}  // namespace muster::server
