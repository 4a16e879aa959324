#pragma once

#include <optional>
#include <sys/types.h>

#include "agent/files.hpp"
#include "agent/shim/process_handle.hpp"
#include "agent/tasks/task_folder.hpp"
#include "base/result.hpp"

// The lock on a task's folder, which its shim holds as long as it lives.
namespace muster::agent {

// Takes the write lock on `order`; kConflict when another process has it. It is held until the
// descriptor is closed, or any other one of this process for the same file: that is how POSIX locks
// are. So who holds the lock reads the order through it.
Result<Fd> TakeLock(const TaskFolder& folder);

// The process that holds the lock.
std::optional<pid_t> LockHolder(const TaskFolder& folder);

// The shim of a folder: the process that has its lock, or else `child`, which may be about to take
// it. None when it has ended.
ProcessHandle HoldShim(const TaskFolder& folder, pid_t child);

}  // namespace muster::agent
