#pragma once

#include <string>
#include <sys/types.h>

namespace muster::agent {

// Starts `executable` as a shim for `folder` (shim.hpp), a child of this process: what a spawner
// does with less effort. 0, or the errno.
int ExecShim(pid_t& pid, const std::string& executable, std::string folder);

}  // namespace muster::agent
