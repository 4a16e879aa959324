#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/host/cgroups.hpp"
#include "agent/shim/account.hpp"
#include "base/result.hpp"
#include "link/messages.hpp"

namespace muster::agent {

inline constexpr std::string_view kOutputVariable = "MUSTER_OUTPUT=";

// What a task's first process will be (task_child.hpp).
struct Launch {
  Account account;
  std::vector<std::string> argv;      // argv[0] without '/' is searched in the task's PATH
  std::optional<std::size_t> script;  // which of argv is the path of the script
  std::optional<std::size_t> output;  // which of env names the file for outputs
  std::vector<std::string> env;       // "NAME=value"
  std::string folder;
  bool folder_given = false;  // else HOME, and / when that is missing
  TaskGroup group;            // of a task with limits
};

// An order no host could ever run: not one of argv, script and reboot, NUL bytes, names with '='.
Result<> CheckCommand(const Command& command);

// Of a command that moves files: this program as `muster-agent transfer FOLDER` (transfer/). Its
// environment is fixed: it runs as the agent's user, so nothing of the order may steer it but the
// order itself, which it reads.
Result<> CheckTransfer(const Command& command);
Launch PlanTransfer(Account account, const std::string& folder);

// Where a task's own files lie.
struct LaunchPaths {
  std::string script;  // when it has one
  std::string output;  // what becomes MUSTER_OUTPUT; "" for none
};
// A restart by the system's own way is the agent's doing, too: fixed environment and folder, and a
// program from the system's folders.
Launch PlanLaunch(const link::Order& order, Account account, const LaunchPaths& paths);

// The words of a script's #! line as the kernel reads them: the interpreter, and everything behind
// it as one argument. Empty when there is no such line.
std::vector<std::string> ParseShebang(std::string_view script);

// Which step of a start failed, and the errno.
struct LaunchFailure {
  enum class Step : int { kSession = 1, kUser, kFolder, kStreams, kExec, kGroup, kKeyring } step;
  int error;
};

// The failure as a sentence that names what is missing.
std::string Explain(const Launch& launch, const LaunchFailure& failure);

}  // namespace muster::agent
