#pragma once

#include <fcntl.h>

namespace muster::files {

// For a path that another user may have chosen: closed on exec, and a terminal at that path does
// not become ours, from which its owner could send us signals. openat2(2) refuses O_NOCTTY beside
// O_PATH, which opens no terminal anyway.
constexpr int SafeFlags(int flags) noexcept {
  return flags | O_CLOEXEC | ((flags & O_PATH) != 0 ? 0 : O_NOCTTY);
}

}  // namespace muster::files
