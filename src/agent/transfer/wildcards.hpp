#pragma once

#include <functional>
#include <string>

#include "agent/transfer/path_walk.hpp"
#include "base/result.hpp"

namespace muster::agent {

// Calls `found` with each path that `pattern` matches (MatchesName), sorted; a pattern without
// wildcards is its own match when there is such a thing. Folders are read through `walk`. When
// nothing matches: kDenied if a link on the way was not followed, kUnavailable if a folder could
// not be looked at, else kNotFound. kInvalid: not a whole path.
Result<> Expand(const std::string& pattern, PathWalk& walk,
                const std::function<void(const std::string&)>& found);

}  // namespace muster::agent
