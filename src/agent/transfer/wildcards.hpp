#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "agent/transfer/path_walk.hpp"
#include "base/result.hpp"

namespace muster::agent {

// * matches any run of characters, ? any one; nothing else is special. A leading dot must be
// written.
bool MatchesName(std::string_view pattern, std::string_view name);

// Calls `found` with each path that `pattern` matches, sorted; a pattern without wildcards is its
// own match when there is such a thing. Folders are read through `walk`. When nothing matches:
// kDenied if a link on the way was not followed, else kNotFound. kInvalid: not a whole path.
Result<> Expand(const std::string& pattern, PathWalk& walk,
                const std::function<void(const std::string&)>& found);

}  // namespace muster::agent
