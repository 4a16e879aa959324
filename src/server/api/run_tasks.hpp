#pragma once

#include <functional>
#include <optional>

#include "server/api/services.hpp"

namespace muster::server::api {

// One host of a run as it stands: its last attempt, if it has one, and the state to show.
struct TaskNow {
  std::uint32_t ordinal = 0;
  const std::string* host = nullptr;
  TaskState state = TaskState::kWaiting;
  const TaskRecord* record = nullptr;  // null while no attempt was made
};

// Walks the hosts of a run in their frozen order from ordinal `from`, until `visit` returns false.
// Joins the store's rows with what the live view knows of tasks that have no row. kNotFound: no
// such run.
Result<> WalkTasks(Services& services, RunId run, std::uint32_t from,
                   const std::function<bool(const TaskNow&)>& visit);

}  // namespace muster::server::api
