#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace muster::agent {

// * matches any run of characters, ? any one; nothing else is special. A leading dot must be
// written.
bool MatchesName(std::string_view pattern, std::string_view name);

// Calls `found` with each path that `pattern` matches, sorted; a pattern without wildcards is its
// own match when there is such a thing. kNotFound: nothing matches. kInvalid: not a whole path.
Result<> Expand(const std::string& pattern, const std::function<void(const std::string&)>& found);

}  // namespace muster::agent
