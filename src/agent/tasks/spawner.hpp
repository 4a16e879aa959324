#pragma once

#include <memory>
#include <string>
#include <sys/types.h>

#include "agent/files.hpp"
#include "base/result.hpp"

namespace muster::agent {

struct WaitingShims;

// A small process beside the agent that starts its shims. It is forked off before the agent sets
// anything up and forks again for each shim, which so needs no exec, no linking and no set-up: that
// cost more than a short task does itself. The shims are children of the agent (CLONE_PARENT), as
// if it had started them. When the agent is gone, so is the spawner; the shims live on.
//
// A shim whose task ended and left nothing behind waits a while for the next one before it ends:
// on a host with many short tasks that saves most of a process for each. A few wait at most, and
// none without its agent.
class Spawner {
 public:
  Spawner() = default;  // none: Spawn is kUnavailable

  // Forks. To be called early, while the process is small and has one thread.
  static Result<Spawner> Start();

  // Gives the task in `folder` to a shim and returns its process id, to be waited for: either a new
  // one or that of an ended task. kUnavailable: none has it. kTimeout: one may have it; as a shim
  // takes the folder's lock, starting another one is harmless. When its process is gone or silent,
  // it is none from then on.
  Result<pid_t> Spawn(const std::string& folder);

  explicit operator bool() const noexcept { return static_cast<bool>(channel_); }

 private:
  Result<pid_t> AskOne(Fd& channel, const std::string& folder);

  Fd channel_;  // to the spawner
  Fd waiting_;  // to whichever waiting shim is first
  std::shared_ptr<WaitingShims> count_;
};

}  // namespace muster::agent
