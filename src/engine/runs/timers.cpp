#include "engine/runs/timers.hpp"

#include "engine/runs/dispatch.hpp"
#include "engine/runs/ending.hpp"

namespace muster::engine {
namespace {

bool HostOnline(const State& state, HostId id) {
  const auto found = state.hosts.find(id);
  return found != state.hosts.end() && found->second.Online();
}

void FireWaitOver(Turn& turn, OpenRun& run, const Timer& timer) {
  const Slot& slot = run.slots[timer.ordinal];
  if (slot.state != TaskState::kQueued || slot.wait_until > turn.now.mono) return;
  if (HostOnline(turn.state, (*run.targets)[timer.ordinal].host))
    return;  // it waits for something else
  if (run.restored)
    return LoseUnsent(turn, run, timer.ordinal,
                      "the server was restored from a backup, and the host did not come back to "
                      "say whether it ran");
  EndUnsent(turn, run, timer.ordinal, TaskEvent::kOfflineOver,
            fmt::format("the host was offline for {}", FormatDuration(run.Spec().wait_offline)));
}

void FireTaskDeadline(Turn& turn, OpenRun& run, const Timer& timer) {
  const auto attempt = run.attempts.find(timer.ordinal);
  if (attempt == run.attempts.end() || attempt->second.key.attempt.value != timer.attempt) return;
  if (run.slots[timer.ordinal].deadline > turn.now.mono) return;  // armed anew since
  const HostEntry& host = turn.state.hosts.at(attempt->second.key.host);
  const MonoTime grace_over = turn.state.loaded + turn.state.options.takeover_grace;
  if (!host.settled && turn.now.mono < grace_over) {
    Timer later = timer;
    later.at = grace_over;
    turn.state.timers.push(later);
    return;
  }
  LoseAttempt(turn, run, timer.ordinal,
              host.Online() ? "the host did not say how it ended in time"
                            : "the host was away past the task's deadline");
}

}  // namespace

void FireTimers(Turn& turn) {
  auto& timers = turn.state.timers;
  while (!timers.empty() && timers.top().at <= turn.now.mono && !turn.Spent()) {
    const Timer timer = timers.top();
    timers.pop();
    turn.Spend();
    const auto found = turn.state.runs.find(timer.run);
    if (found == turn.state.runs.end()) continue;
    OpenRun& run = found->second;
    switch (timer.kind) {
      case TimerKind::kWaitOver:
        FireWaitOver(turn, run, timer);
        break;
      case TimerKind::kRetry:
        if (run.slots[timer.ordinal].state == TaskState::kQueued)
          MakeReady(turn, run, timer.ordinal);
        break;
      case TimerKind::kTaskDeadline:
        FireTaskDeadline(turn, run, timer);
        break;
    }
  }
}

}  // namespace muster::engine
