#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "domain/records.hpp"
#include "engine/kinds.hpp"

// What runs tell of themselves, and ask of the server.
namespace muster::engine {

// What changed, for streams and live views. Sent after the commit that made it true.
struct RunNews {
  RunId run;
  RunState state = RunState::kCreated;  // kCreated: it has ended before, only logs_open is news
  TaskCounts counts;
  std::uint32_t logs_open = 0;
  CommitNumber commit;
  bool is_new = false;
  std::shared_ptr<const Run> whole;        // with is_new, when its row changed, and at the end
  std::shared_ptr<const Targets> targets;  // with is_new
  // Of the stages that work on hosts now, on top of what `whole` says of their earlier visits.
  std::vector<std::pair<std::uint32_t, TaskCounts>> stages = {};
};

struct TaskNews {
  TaskKey task;
  TaskState state = TaskState::kWaiting;
  int exit_code = 0;
  int signal = 0;
  std::string reason;
  CommitNumber commit;
};

// A task that the server itself carries out. Its end comes back as a ServerReport.
struct ServerOrder {
  TaskKey task;
  // Without templates. A condition's end says its `value` alone: the engine judges it.
  std::variant<HttpAction, NotifyAction, ConditionAction> what;
  std::string job = {};    // of the run, for messages
  std::string state = {};  // likewise
  bool notice = false;     // and not the work of a stage
};

// Such a task is to end early. How it ended comes back all the same.
struct StopServerOrder {
  TaskKey task;
};

using NewsOfRuns = Kinds<RunNews, TaskNews>;
using WorkOfRuns = Kinds<ServerOrder, StopServerOrder>;

}  // namespace muster::engine
