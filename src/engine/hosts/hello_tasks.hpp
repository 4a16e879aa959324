#pragma once

#include <set>
#include <vector>

#include "engine/turn.hpp"

// The tasks that a Hello lists, compared one by one with the engine's memory.
namespace muster::engine {

struct ListedTasks {
  std::vector<link::TaskAnswer> answers;  // one for each listed task of the host
  std::set<TaskKey> tasks;
};
// Agrees with the host on each task that it lists: go on, kill, or forget.
ListedTasks AnswerListed(Turn& turn, HostEntry& entry, const NodeHello& command);

// Decides about tasks of the host that its Hello does not list: send again, or lost.
void SettleOthers(Turn& turn, HostEntry& entry, const link::Hello& hello,
                  const std::set<TaskKey>& listed, bool taken_back);

// True when a look-up says "open" of a task, of its output, or of the run of an unknown one, that
// memory no longer holds: it ended after the read.
bool LookedTooEarly(State& state, const HostEntry& entry, const NodeHello& command);

}  // namespace muster::engine
