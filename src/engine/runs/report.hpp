#pragma once

#include "engine/turn.hpp"

namespace muster::engine {

// What nodes say of their tasks. A report counts only on the host's current link and session.
void Decide(Turn& turn, const NodeReports& command);

// The open attempt a key names, or nothing.
struct OpenAttempt {
  OpenRun* run = nullptr;
  OpenVisit* visit = nullptr;
  TaskRecord* record = nullptr;
};
OpenAttempt FindAttempt(State& state, const TaskKey& key);

// The node's own word: this attempt did not start. The next one follows, unless the task was
// stopped or its wait is over.
void TryAgain(Turn& turn, const TaskKey& key, TaskEvent event, std::string reason);

// What a node says of an attempt whose record has ended already: kept beside it, revives nothing.
// Returns true when the node may forget the task.
bool TakeLateEnd(Turn& turn, TaskRecord record, const TaskEnd& end,
                 const std::optional<LogMark>& mark);

}  // namespace muster::engine
