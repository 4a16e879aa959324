#pragma once

#include "agent/shim/account.hpp"
#include "agent/shim/task_process.hpp"
#include "agent/tasks/task_folder.hpp"
#include "base/result.hpp"
#include "domain/command.hpp"

namespace muster::agent {

// Makes in the task's folder what its process is started with: script, stdin, and the file for its
// outputs, which a task that is no process does not have. Script and outputs belong to `account`.
Result<TaskProcess::Files> MakeTaskFiles(const TaskFolder& folder, const Command& command,
                                         const Account& account);

}  // namespace muster::agent
