#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ports/store.hpp"

namespace muster::server {

// How many bytes of output a server takes of each task; none: its output is not wanted.
using OutputRooms = std::unordered_map<TaskKey, std::optional<std::uint64_t>>;

// For the tasks that a node lists in its Hello and that are over, by the records; `records` is what
// FindTasks found for `keys`. A task that has no record, or whose output is complete on record, has
// nothing to send. Another may send what its run allows any of its tasks. Tasks that are not over
// are left out: the engine, which holds their plan, says in its Welcome how much they may send.
Result<OutputRooms> RoomsOnRecord(Store& store, const std::vector<TaskKey>& keys,
                                  const std::vector<std::optional<TaskRecord>>& records);

// Whether output of the task may still come, by its record.
bool TakesOutput(const TaskRecord& record);

}  // namespace muster::server
