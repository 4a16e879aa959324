#include "engine/runs/timers.hpp"

#include "engine/runs/budget.hpp"
#include "engine/runs/dispatch.hpp"
#include "engine/runs/ending.hpp"
#include "engine/runs/flow.hpp"

namespace muster::engine {
namespace {

bool HostOnline(const State& state, HostId id) {
  const auto found = state.hosts.entries.find(id);
  return found != state.hosts.entries.end() && found->second.Online();
}

// A host that has not said Hello in this term may only not have found the new leader yet: whatever
// its silence would end waits until `grace` after the take-over. True when it was put off.
template <typename Due>
bool PutOff(Turn& turn, HostId id, Duration grace, const Due& due) {
  const auto found = turn.state.hosts.entries.find(id);
  const MonoTime over = turn.state.loaded + grace;
  if (found == turn.state.hosts.entries.end() || found->second.settled || turn.now.mono >= over)
    return false;
  turn.state.timers.push({.at = over, .due = due});
  return true;
}

struct Place {
  OpenRun* run = nullptr;  // none: the run or the visit has ended
  OpenVisit* visit = nullptr;
};
Place FindVisit(Turn& turn, RunId id, Visit number) {
  const auto run = turn.state.runs.open.find(id);
  if (run == turn.state.runs.open.end()) return {};
  const auto visit = run->second.visits.find(number);
  if (visit == run->second.visits.end()) return {};
  return {&run->second, &visit->second};
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

}  // namespace

void Fire(Turn& turn, const WaitOver& due) {
  const auto [found, visit] = FindVisit(turn, due.task.run, due.task.visit);
  const std::uint32_t ordinal = due.task.ordinal;
  if (found == nullptr || !visit->Has(ordinal)) return;
  OpenRun& run = *found;
  const Slot& slot = visit->At(ordinal);
  if (slot.state != TaskState::kQueued || slot.wait_until > turn.now.mono) return;
  if (run.run.pause && !run.restored) return;  // its turn is given again when the run goes on
  if (HostOnline(turn.state, (*run.targets)[ordinal].host)) return;  // it waits for something else
  if (PutOff(turn, (*run.targets)[ordinal].host, turn.state.options.reconnect_bound, due)) return;
  if (run.restored)
    return LoseUnsent(turn, run, *visit, ordinal,
                      "the server was restored from a backup, and the host did not come back to "
                      "say whether it ran");
  EndUnsent(
      turn, run, *visit, ordinal, TaskEvent::kOfflineOver,
      fmt::format("the host was offline for {}", FormatDuration(run.SpecOf(*visit).wait_offline)));
}

void Fire(Turn& turn, const RetryDue& due) {
  const auto [run, visit] = FindVisit(turn, due.task.run, due.task.visit);
  const std::uint32_t ordinal = due.task.ordinal;
  if (run != nullptr && visit->Has(ordinal) && visit->At(ordinal).state == TaskState::kQueued)
    MakeReady(turn, *run, *visit, ordinal);
}

void Fire(Turn& turn, const TaskDeadline& due) {
  const auto [run, visit] = FindVisit(turn, due.task.run, due.task.visit);
  if (run == nullptr) return;
  const std::uint32_t ordinal = due.task.ordinal;
  const auto attempt = visit->attempts.find(ordinal);
  if (attempt == visit->attempts.end() || attempt->second.key.attempt.value != due.attempt) return;
  if (visit->At(ordinal).deadline > turn.now.mono) return;  // armed again since
  const HostEntry& host = turn.state.hosts.entries.at(attempt->second.key.host);
  if (PutOff(turn, host.host.id, turn.state.options.takeover_grace, due)) return;
  const bool stopped = run->Stopping() || attempt->second.stop_wished;
  LoseAttempt(turn, *run, *visit, ordinal, WhyLost(host.Online(), stopped));
}

void Fire(Turn& turn, const VisitDue& due) {
  const auto [run, visit] = FindVisit(turn, due.run, due.visit);
  if (run != nullptr) OnVisitDue(turn, *run, *visit);
}

void Fire(Turn& turn, const BudgetDue& due) {
  const auto run = turn.state.runs.open.find(due.run);
  if (run != turn.state.runs.open.end()) OnBudget(turn, run->second);
}

}  // namespace muster::engine
