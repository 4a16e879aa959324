#pragma once

#include <string>
#include <sys/types.h>

#include "agent/files.hpp"
#include "base/result.hpp"

namespace muster::agent {

// A small process beside the agent that starts its shims. It is forked off before the agent sets
// anything up and forks again for each shim, which so needs no exec, no linking and no set-up: that
// cost more than a short task does itself. The shims are children of the agent (CLONE_PARENT), as
// if it had started them. When the agent is gone, so is the spawner; the shims live on.
class Spawner {
 public:
  Spawner() = default;  // none: Spawn is kUnavailable

  // Forks. To be called early, while the process is small and has one thread.
  static Result<Spawner> Start();

  // Starts a shim for the task in `folder` and returns its process id, to be waited for.
  // kUnavailable: none was started. kTimeout: one may have been; as a shim takes the folder's lock,
  // starting another one is harmless. After that, and when its process is gone, it is none.
  Result<pid_t> Spawn(const std::string& folder);

  explicit operator bool() const noexcept { return static_cast<bool>(channel_); }

 private:
  Fd channel_;
};

}  // namespace muster::agent
