#pragma once

#include <filesystem>
#include <sys/types.h>

#include "base/result.hpp"

namespace muster::files {

// Makes the folder `path` with `mode` where it is missing, and its parents, and checks that no
// other user can replace what is in it. The folder and all above it must belong to root or to the
// user of this process, and not be writable for others; so must links on the way, except for
// writing, which links do not have. Exceptions:
// - Above the folder, one that is writable for all but sticky, as /tmp is.
// - Writable for the group root, or for the private group of this process (IsPrivateGroup).
// - In a user namespace, an owner from outside it counts as root.
// kInvalid says whose it is and what to do; kUnavailable: it cannot be made or looked at.
Result<> MakeOwnFolder(const std::filesystem::path& path, mode_t mode);

}  // namespace muster::files
