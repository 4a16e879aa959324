#pragma once

#include <memory>
#include <sys/types.h>

#include "agent/shim/launch.hpp"

namespace muster::agent {

// The descriptors its standard streams become; script and file for outputs as open files (or -1).
struct LaunchFiles {
  int in = -1;
  int out = -1;
  int err = -1;
  int script = -1;
  int output = -1;
};

// A task's first process from its start until it is the task.
//
// A task that runs as our own user and without limits begins as a process that shares our memory:
// to copy it would cost more than all else a shim does. That process has a stack of its own, reads
// what was prepared for it and calls nothing but the kernel, so the two do not meet. We do not wait
// for it either: one that hangs in a dead network file system can still be killed.
class TaskChild {
 public:
  // When it cannot become the task, it writes a LaunchFailure to `failure_pipe` and exits. `launch`
  // and this object must live until it is the task or has ended.
  TaskChild(const Launch& launch, const LaunchFiles& files, int failure_pipe);
  TaskChild(const TaskChild&) = delete;
  TaskChild& operator=(const TaskChild&) = delete;
  ~TaskChild();

  // Once. The process's number, or -errno.
  pid_t Start();

 private:
  struct Plan;
  struct Memory;

  std::unique_ptr<Memory> memory_;
  std::unique_ptr<Plan> plan_;
  bool shares_memory_;
};

}  // namespace muster::agent
