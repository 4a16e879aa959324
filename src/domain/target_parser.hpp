#pragma once

#include <memory>
#include <string_view>

#include "base/result.hpp"
#include "domain/target_node.hpp"

namespace muster {

// Bounds that keep a hostile expression from costing much. Names do not count as terms.
inline constexpr std::size_t kMaxTargetText = 1 << 20;
inline constexpr std::size_t kMaxTargetNames = 100'000;
inline constexpr std::size_t kMaxTargetTerms = 1'000;
inline constexpr int kMaxTargetDepth = 64;
inline constexpr std::size_t kMaxTargetRuns = 20;  // run:… terms; each is looked up
inline constexpr std::size_t kMaxTargetRegex = 1'000;
// All regular expressions of one expression: built, each may take its share of the memory, and no
// one more than kMaxTargetRegexMemory; matched, one at a time, kMaxTargetRegexMemory.
inline constexpr std::size_t kMaxTargetRegexes = 100;
inline constexpr std::size_t kMaxTargetRegexMemory = 1 << 20;
inline constexpr std::size_t kMaxTargetRegexMemoryInAll = 4 << 20;
// Steps of all of them over the hosts' values: instructions times bytes. A step takes at worst some
// 7 ns, and mostly a hundredth of that.
inline constexpr std::size_t kMaxTargetRegexWork = 300'000'000;

// The grammar of targets.hpp. kInvalid names the column (from 1, in characters) and what was
// expected there.
Result<std::unique_ptr<TargetExpression::Node>> ParseTargets(std::string_view text);

}  // namespace muster
