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
inline constexpr std::size_t kMaxTargetRegex = 1'000;

// The grammar of targets.hpp. kInvalid names the column (from 1, in characters) and what was
// expected there.
Result<std::unique_ptr<TargetExpression::Node>> ParseTargets(std::string_view text);

}  // namespace muster
