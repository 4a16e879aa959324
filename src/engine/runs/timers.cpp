#include "engine/runs/timers.hpp"

#include "engine/limiter/limiter.hpp"
#include "engine/notices/notices.hpp"
#include "engine/runs/budget.hpp"
#include "engine/runs/dispatch.hpp"
#include "engine/runs/ending.hpp"
#include "engine/runs/flow.hpp"

namespace muster::engine {
namespace {

bool HostOnline(const State& state, HostId id) {
  const auto found = state.hosts.find(id);
  return found != state.hosts.end() && found->second.Online();
}

// A host that has not said Hello in this term may only not have found the new leader yet: whatever
// its silence would end waits until `grace` after the take-over. True when it was put off.
bool PutOff(Turn& turn, HostId id, Duration grace, const Timer& timer) {
  const auto found = turn.state.hosts.find(id);
  const MonoTime over = turn.state.loaded + grace;
  if (found == turn.state.hosts.end() || found->second.settled || turn.now.mono >= over)
    return false;
  Timer later = timer;
  later.at = over;
  turn.state.timers.push(later);
  return true;
}

void FireWaitOver(Turn& turn, OpenRun& run, OpenVisit& visit, const Timer& timer) {
  const std::uint32_t ordinal = timer.task.ordinal;
  if (!visit.Has(ordinal)) return;
  const Slot& slot = visit.At(ordinal);
  if (slot.state != TaskState::kQueued || slot.wait_until > turn.now.mono) return;
  if (run.run.pause && !run.restored) return;  // its turn is given anew when the run goes on
  if (HostOnline(turn.state, (*run.targets)[ordinal].host)) return;  // it waits for something else
  if (PutOff(turn, (*run.targets)[ordinal].host, turn.state.options.reconnect_bound, timer)) return;
  if (run.restored)
    return LoseUnsent(turn, run, visit, ordinal,
                      "the server was restored from a backup, and the host did not come back to "
                      "say whether it ran");
  EndUnsent(
      turn, run, visit, ordinal, TaskEvent::kOfflineOver,
      fmt::format("the host was offline for {}", FormatDuration(run.SpecOf(visit).wait_offline)));
}

// Why an attempt whose bound has passed is lost.
std::string WhyLost(bool online, bool stopped) {
  const std::string_view why = online && stopped
                                   ? "the host did not report in time how it ended after its stop"
                               : online  ? "the host did not report in time how it ended"
                               : stopped ? "the host was away until the time for its stop was over"
                                         : "the host was away past the task's deadline";
  return fmt::format("{}{}", why, kMayStillRun);
}

void FireTaskDeadline(Turn& turn, OpenRun& run, OpenVisit& visit, const Timer& timer) {
  const std::uint32_t ordinal = timer.task.ordinal;
  const auto attempt = visit.attempts.find(ordinal);
  if (attempt == visit.attempts.end() || attempt->second.key.attempt.value != timer.attempt) return;
  if (visit.At(ordinal).deadline > turn.now.mono) return;  // armed anew since
  const HostEntry& host = turn.state.hosts.at(attempt->second.key.host);
  if (PutOff(turn, host.host.id, turn.state.options.takeover_grace, timer)) return;
  const bool stopped = run.Stopping() || attempt->second.stop_wished;
  LoseAttempt(turn, run, visit, ordinal, WhyLost(host.Online(), stopped));
}

void FireVisit(Turn& turn, OpenRun& run, OpenVisit& visit, const Timer& timer) {
  switch (timer.kind) {
    case TimerKind::kWaitOver:
      return FireWaitOver(turn, run, visit, timer);
    case TimerKind::kRetry:
      if (visit.Has(timer.task.ordinal) && visit.At(timer.task.ordinal).state == TaskState::kQueued)
        MakeReady(turn, run, visit, timer.task.ordinal);
      return;
    case TimerKind::kTaskDeadline:
      return FireTaskDeadline(turn, run, visit, timer);
    case TimerKind::kVisitDue:
      return OnVisitDue(turn, run, visit);
    case TimerKind::kBudget:
    case TimerKind::kNotice:
      return;
  }
}

}  // namespace

void FireTimers(Turn& turn) {
  auto& lost = turn.state.lost_over;
  while (!lost.empty() && lost.begin()->first <= turn.now.mono && !turn.Spent()) {
    const TaskKey holder = lost.begin()->second;
    lost.erase(lost.begin());
    turn.Spend();
    OnLostOver(turn, holder);
  }
  auto& timers = turn.state.timers;
  while (!timers.empty() && timers.top().at <= turn.now.mono && !turn.Spent()) {
    const Timer timer = timers.top();
    timers.pop();
    turn.Spend();
    if (timer.kind == TimerKind::kNotice) {
      OnNoticeDue(turn, timer.task.run, timer.task.visit);
      continue;
    }
    const auto found = turn.state.runs.find(timer.task.run);
    if (found == turn.state.runs.end()) continue;
    OpenRun& run = found->second;
    if (timer.kind == TimerKind::kBudget) {
      OnBudget(turn, run);
      continue;
    }
    if (const auto visit = run.visits.find(timer.task.visit); visit != run.visits.end())
      FireVisit(turn, run, visit->second, timer);
  }
}

}  // namespace muster::engine
