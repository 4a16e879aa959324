#include "engine/runs/flow.hpp"

#include <algorithm>
#include <utility>

#include "engine/limiter/limiter.hpp"
#include "engine/notices/notices.hpp"
#include "engine/runs/budget.hpp"
#include "engine/runs/dispatch.hpp"
#include "engine/runs/keep_run.hpp"
#include "engine/runs/next_stage.hpp"
#include "engine/runs/run_end.hpp"
#include "engine/runs/sequence.hpp"
#include "engine/runs/server_work.hpp"
#include "engine/runs/stage_entry.hpp"
#include "engine/runs/visit_end.hpp"

namespace muster::engine {
namespace {

void AdvanceVisit(Turn& turn, OpenRun& run, OpenVisit& visit) {
  if (visit.ends_as) return;
  if (!visit.slots.empty()) return AdvanceTasks(turn, run, visit);
  if (visit.server_lost) return LoseServerWork(turn, run, visit);
  const bool idle =
      !std::holds_alternative<SequenceAction>(run.SpecOf(visit).action) || IsIdle(run, visit);
  if (run.Stopping() && idle && !HasServerWork(visit)) {
    visit.ends_as = StageState::kCancelled;
    return;
  }
  if (!run.run.pause && !run.Stopping()) StartServerWork(turn, run, visit);
}

}  // namespace

void PauseAtLimit(Turn& turn, OpenRun& run, OpenVisit& visit, std::string reason) {
  run.run.pause =
      Pause{.by = std::string(kByLimit), .at = turn.now.wall, .reason = std::move(reason)};
  run.run.state = RunState::kPaused;
  run.run.stages[visit.record.stage].reason = run.run.pause->reason;
  TellChannels(turn, run, "paused", run.run.pause->reason);
  StopWaitingOf(turn, run.run.id);
  KeepVisit(turn, run, visit);
  KeepRun(turn, run);
}

void TellBatch(Turn& turn, OpenRun& run, OpenVisit& visit) {
  StageProgress& progress = run.run.stages[visit.record.stage];
  const BatchPlan& plan = run.SpecOf(visit).batches;
  progress.batch = plan.Empty() ? 0 : visit.record.batch + 1;
  KeepVisit(turn, run, visit);
  KeepRun(turn, run);
}

void ArmVisit(Turn& turn, OpenRun& run, OpenVisit& visit, MonoTime at) {
  visit.due = at;
  turn.state.timers.push({.at = at, .due = VisitDue{run.run.id, visit.record.visit}});
}

void OnVisitDue(Turn& turn, OpenRun& run, OpenVisit& visit) {
  if (!visit.due || *visit.due > turn.now.mono || visit.ends_as) return;
  visit.due.reset();
  turn.Wake(run);
  if (visit.record.state == StageState::kAwaitingApproval) {
    visit.record.decision =
        Decision{.approved = false, .by = {}, .at = turn.now.wall, .comment = {}};
    visit.record.reason = "it was not approved in time";
    visit.ends_as = StageState::kFailed;
    return;
  }
  if (std::holds_alternative<SequenceAction>(run.SpecOf(visit).action))
    return GoOn(turn, run, visit);
  // A request whose next attempt is due goes on; a wait is over.
  if (std::holds_alternative<WaitAction>(run.SpecOf(visit).action))
    visit.ends_as = StageState::kSucceeded;
}

bool Advance(Turn& turn, OpenRun& run) {
  run.working = false;
  if (run.run.state == RunState::kQueued && !run.Stopping()) {
    if (!TakeRunKeys(turn, run)) return true;
    run.run.state = RunState::kRunning;
    KeepRun(turn, run);
    if (!run.run.closing) Begin(turn, run);
  }
  bool changed = false;
  for (bool more = true; more && !turn.Spent();) {
    more = false;
    std::vector<Visit> ids;
    for (const auto& [id, visit] : run.visits) ids.push_back(id);
    for (const Visit id : ids) {
      const auto found = run.visits.find(id);
      if (found == run.visits.end() || turn.Spent()) continue;
      AdvanceVisit(turn, run, found->second);
      if (!found->second.ends_as) continue;
      EndVisit(turn, run, id, *found->second.ends_as, ReasonOf(run, found->second));
      more = changed = true;
    }
  }
  const bool over = run.visits.empty() && (run.run.closing || run.Stopping());
  if (over) {
    EndRun(turn, run);
    return false;
  }
  Tick(turn, run);
  if (run.run.pause) GiveBackPaused(turn, run.run);
  if (changed) KeepRun(turn, run);
  const bool work = std::ranges::any_of(run.visits, [&](const auto& item) {
    return item.second.ends_as || HasWork(run, item.second);
  });
  if (work) turn.Wake(run);
  return true;
}

}  // namespace muster::engine
