#include "engine/timers.hpp"

#include <algorithm>

#include "engine/limiter/limiter.hpp"
#include "engine/notices/notices.hpp"
#include "engine/runs/timers.hpp"
#include "engine/turn.hpp"

namespace muster::engine {

void FireTimers(Turn& turn) {
  FireLost(turn);
  auto& timers = turn.state.timers;
  while (!timers.empty() && timers.top().at <= turn.now.mono && !turn.Spent()) {
    const Timer timer = timers.top();
    timers.pop();
    turn.Spend();
    std::visit([&turn](const auto& due) { Fire(turn, due); }, timer.due);
  }
}

MonoTime NextTimer(const State& state) {
  const auto& lost = state.limiter.lost_over;
  return std::min(lost.empty() ? kNever : lost.begin()->first,
                  state.timers.empty() ? kNever : state.timers.top().at);
}

}  // namespace muster::engine
