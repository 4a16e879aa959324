#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

#include "agent/files.hpp"
#include "base/result.hpp"
#include "domain/task.hpp"
#include "link/messages.hpp"

// A task on the agent's disk: one folder, DATA/tasks/r12-1-0-h7-1, through which agent and shim
// talk. Hardly anything in it is synced: the boot id in `order` tells a restarted agent that the
// machine was down.
//
//   order   what to do, and under which boot; whole before the folder has its name. The shim holds
//           a write lock on it as long as it lives
//   script  the script, owned by the task's user
//   output  what the script writes to $MUSTER_OUTPUT, owned by its user; read when it has ended
//   stdin   what the task reads, when given
//   cgroup  its control groups (cgroups.hpp), when it has limits; written before the shim starts
//   out     the spool (spool.hpp); made with the first byte
//   kill    the agent's wish, in milliseconds of grace; SIGUSR1 tells the shim to look
//   exit    how it ended; appears whole, and from then on nothing in the folder changes. The shim
//           makes it as `exit.new` before anything can run
//   restart   of a task that restarts the host: how it ends if the host does restart; synced, as is
//           the order of such a task
//   exit.old  a file to make `exit.new` of; its content means nothing
//   settled   an `exit` that the agent is writing in the place of a shim that is gone
//
// Whoever writes `exit` holds the lock and has seen that there is none yet. So an agent that takes
// the lock and writes `exit` itself has also made sure that a late shim starts nothing.
namespace muster::agent {

struct TaskFolder {
  std::string path;

  std::string Order() const { return path + "/order"; }
  std::string Script() const { return path + "/script"; }
  std::string Output() const { return path + "/output"; }
  std::string Restart() const { return path + "/restart"; }
  std::string Stdin() const { return path + "/stdin"; }
  std::string Cgroup() const { return path + "/cgroup"; }
  std::string Spool() const { return path + "/out"; }
  std::string Kill() const { return path + "/kill"; }
  std::string Exit() const { return path + "/exit"; }
  std::string NewExit() const { return path + "/exit.new"; }
  std::string OldExit() const { return path + "/exit.old"; }
  std::string Settled() const { return path + "/settled"; }
};

std::string FolderName(const TaskKey& task);
std::optional<TaskKey> ParseFolderName(std::string_view name);

struct OrderRecord {
  std::string boot;
  link::Order order;
};
std::string EncodeOrderRecord(std::string_view boot, const link::Order& order);
Result<OrderRecord> ParseOrderRecord(std::string_view bytes);  // kInvalid when damaged

// `end.log` must be set. Zero bytes behind the record are part of none: its room is taken before
// the task runs and not given back.
std::string EncodeExitRecord(const TaskKey& task, const TaskEnd& end);

// kInvalid when damaged, and when it is another task's: the file may have been used before, and a
// power loss brings back what it held then.
Result<TaskEnd> ParseExitRecord(const TaskKey& task, std::string_view bytes);

std::string EncodeKillWish(Duration grace);
std::optional<Duration> ParseKillWish(std::string_view bytes);

}  // namespace muster::agent
