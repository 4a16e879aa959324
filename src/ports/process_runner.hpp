#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "domain/log.hpp"
#include "domain/task.hpp"
#include "link/messages.hpp"

namespace muster {

// Runs tasks on this machine and remembers them on disk. Not thread-safe: one thread calls it, and
// its callbacks come on that thread, from inside Poll.
//
// The memory is the point: once Start was called for a task, the runner knows the task until
// Forget, through crashes and restarts of the program and of the machine. So a task is never run
// twice.
class ProcessRunner {
 public:
  struct Held {
    link::HeldTask task;
    std::uint64_t spooled = 0;  // bytes of output kept so far
  };
  struct Events {
    std::function<void(const TaskKey&, std::uint64_t spooled)> on_output;  // more output is there
    // The task ended. `end.log` is set: from here on nothing is added to its output.
    std::function<void(const TaskKey&, const TaskEnd& end)> on_end;
  };
  virtual ~ProcessRunner() = default;

  // What it holds since before this start: called once, first. Tasks of an earlier boot, or whose
  // shim is gone without an exit record, are listed as ended kLost.
  virtual Result<std::vector<Held>> Recover() = 0;

  // Writes the order, then starts the process. kInvalid or kDenied: the task can never run here
  // (user, interpreter, folder); kUnavailable: not now (full disk). After either nothing runs and
  // nothing is remembered. kConflict: the task is known already.
  virtual Result<> Start(const link::Order& order) = 0;

  // TERM to the group, after `grace` KILL. Harmless when it has ended.
  virtual void Kill(const TaskKey& task, Duration grace) = 0;

  // Kept output that overlaps [from, from + limit), in order.
  virtual Result<std::vector<LogChunk>> Read(const TaskKey& task, std::uint64_t from,
                                             std::size_t limit) = 0;

  // Drops everything about an ended task.
  virtual void Forget(const TaskKey& task) = 0;
};

}  // namespace muster
