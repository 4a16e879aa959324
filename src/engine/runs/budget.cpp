#include "engine/runs/budget.hpp"

#include <algorithm>

#include "engine/runs/keep_run.hpp"
#include "engine/runs/stop.hpp"

namespace muster::engine {
namespace {

bool IsWork(const OpenRun& run, const OpenVisit& visit) {
  const Action& action = run.SpecOf(visit).action;
  return std::holds_alternative<HostAction>(action) || std::holds_alternative<HttpAction>(action) ||
         std::holds_alternative<JobAction>(action) ||
         std::holds_alternative<ConditionAction>(action);
}

void Arm(Turn& turn, const OpenRun& run) {
  const Duration left = std::max(Duration::zero(), run.run.spec.timeout - run.run.used);
  turn.state.timers.push({.at = turn.now.mono + left, .due = BudgetDue{run.run.id}});
}

}  // namespace

void Tick(Turn& turn, OpenRun& run) {
  if (run.run.spec.timeout <= Duration::zero() || run.Stopping()) return;
  const bool works = !run.run.pause && std::ranges::any_of(run.visits, [&](const auto& item) {
    return IsWork(run, item.second);
  });
  if (works == static_cast<bool>(run.run.ticking)) return;
  if (!works) return StopTicking(turn, run);
  run.run.ticking = turn.now.wall;
  Arm(turn, run);
  KeepRun(turn, run);
}

void StopTicking(Turn& turn, OpenRun& run) {
  if (!run.run.ticking) return;
  // A clock that was set back gives nothing back.
  run.run.used += std::max(Duration::zero(), turn.now.wall - run.run.ticking);
  run.run.ticking = {};
  KeepRun(turn, run);
}

void OnBudget(Turn& turn, OpenRun& run) {
  if (!run.run.ticking || run.Stopping()) return;
  const Duration used = run.run.used + (turn.now.wall - run.run.ticking);
  if (used < run.run.spec.timeout) {
    turn.state.timers.push(
        {.at = turn.now.mono + (run.run.spec.timeout - used), .due = BudgetDue{run.run.id}});
    return;
  }
  StopWhole(turn, run,
            {.by = std::string(kByBudget),
             .at = turn.now.wall,
             .reason = fmt::format("the budget of run {}, {}, is used up", FormatRunId(run.run.id),
                                   FormatDuration(run.run.spec.timeout))});
}

}  // namespace muster::engine
