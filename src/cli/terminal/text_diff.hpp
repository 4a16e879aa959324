#pragma once

#include <string>
#include <string_view>

namespace muster::cli {

// How `to` differs from `from`, line by line: "-" lines went, "+" lines came, with up to three
// unchanged lines around them and "@@" between distant places. "" when they are equal.
std::string TextDiff(std::string_view from, std::string_view to);

}  // namespace muster::cli
