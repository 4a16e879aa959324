#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace muster::cli {

// One target expression for a file with a name or an expression on each line; '#' begins a comment,
// at the start of a line or after a space. kInvalid names the line that cannot be read, or says
// that there is none.
Result<std::string> TargetsOfFile(std::string_view text);

// Both expressions' hosts; either may be "".
std::string EitherTargets(const std::string& a, const std::string& b);

}  // namespace muster::cli
