#pragma once

#include <functional>
#include <queue>
#include <vector>

#include "base/instant.hpp"
#include "engine/kinds.hpp"
#include "engine/notices/memory.hpp"
#include "engine/runs/memory.hpp"

namespace muster::engine {

class Turn;
struct State;

// Something of a room is due at a moment. It may have changed since the timer was set: who is
// called looks whether it still holds.
struct Timer {
  MonoTime at;
  OneOf<TimersOfRuns, TimersOfNotices> due;

  friend bool operator>(const Timer& a, const Timer& b) { return a.at > b.at; }
};
using Timers = std::priority_queue<Timer, std::vector<Timer>, std::greater<>>;

// Calls `Fire` of its room for each timer that is due, within the turn's budget.
void FireTimers(Turn& turn);

// When the next one is due.
MonoTime NextTimer(const State& state);

}  // namespace muster::engine
