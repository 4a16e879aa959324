#pragma once

#include <functional>
#include <string>

#include "ports/artifacts.hpp"

namespace muster::server {

// Says whether an open run or a document names the file; an error keeps it.
using IsNamed = std::function<Result<bool>(const std::string& sha256)>;

// Drops files that nobody put, asked for or read since `before` and that nothing names, and
// uploads nobody went on with. How many; stops early when `go_on` says so.
Result<std::size_t> DropOldFiles(ArtifactStore& files, WallTime before, const IsNamed& is_named,
                                 const std::function<bool()>& go_on);

}  // namespace muster::server
