#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "server/api/services.hpp"

namespace muster::server::api {

// One host of a run as it stands: its last attempt, if it has one, and the state to show.
struct TaskNow {
  std::uint32_t ordinal = 0;
  const std::string* host = nullptr;
  TaskState state = TaskState::kWaiting;
  const TaskRecord* record = nullptr;  // null while no attempt was made
};

// Which of a run's tasks.
struct TaskChoice {
  std::string stage = {};  // those of this one, in its last pass; "": of each host its last
  std::uint32_t from = 0;  // hosts from this ordinal on
};

// Walks the hosts of a run in their frozen order until `visit` returns false. Joins the store's
// rows with what the live view knows of tasks that have no row. kNotFound: no such run or stage.
Result<> WalkTasks(Services& services, RunId run, const TaskChoice& choice,
                   const std::function<bool(const TaskNow&)>& visit);

// The visits to a stage in the run's last pass that entered it.
Result<std::vector<StageVisit>> VisitsOf(Services& services, RunId run, const std::string& stage);

}  // namespace muster::server::api
