#include "engine/runs/run_end.hpp"

#include <utility>

#include "engine/limiter/limiter.hpp"
#include "engine/notices/notices.hpp"
#include "engine/runs/budget.hpp"
#include "engine/runs/keep_run.hpp"
#include "engine/runs/server_work.hpp"
#include "engine/runs/visit_end.hpp"
#include "engine/triggers/due_slots.hpp"

namespace muster::engine {
namespace {

RunState EndOf(const OpenRun& open) {
  if (open.Stopping())
    return open.run.stop->by == kByBudget ? RunState::kTimedOut : RunState::kCancelled;
  return RunEnd(open.run.outcome);
}

// The stage that waited for the run ends in the same batch: after a crash between two of them
// nobody would tell it.
void EndWaiting(Turn& turn, const Run& child) {
  const auto parent = turn.state.runs.open.find(child.parent);
  if (parent == turn.state.runs.open.end()) return;
  OpenRun& run = parent->second;
  const auto visit = run.visits.find(child.parent_visit);
  if (visit == run.visits.end() || visit->second.record.child != child.id) return;
  if (!visit->second.ends_as) return;
  EndVisit(turn, run, visit->first, *visit->second.ends_as, ReasonOf(run, visit->second));
  KeepRun(turn, run);
}

}  // namespace

void EndRun(Turn& turn, OpenRun& open) {
  Run& run = open.run;
  StopTicking(turn, open);
  run.state = EndOf(open);
  run.ended = turn.now.wall;
  run.ended_commit = turn.commit;
  open.counts = {};
  for (const HostFlow& host : open.hosts) ++open.counts[host.AtEnd()];
  run.counts = open.counts;
  run.pause.reset();
  if (open.restored && !run.stop)
    run.reason = "it was open in the backup this server was restored from";
  if (run.stop && run.stop->by == kByBudget && run.reason.empty()) run.reason = run.stop->reason;
  TellChannels(turn, open, Name(run.state), run.reason);
  turn.Put(RowOf(run));
  const RunId id = run.id;
  const auto logs = turn.state.runs.logs_open.find(id);
  turn.Tell(RunNews{.run = id,
                    .state = run.state,
                    .counts = run.counts,
                    .logs_open = logs == turn.state.runs.logs_open.end() ? 0 : logs->second,
                    .commit = turn.commit,
                    .is_new = false,
                    .whole = std::make_shared<const Run>(run),
                    .targets = {}});
  turn.state.runs.untold.erase(id);
  turn.state.runs.dirty.erase(id);
  turn.state.runs.changed.erase(id);
  turn.state.runs.RememberEnd(id, turn.commit);
  StopWaitingOf(turn, id);
  OnRunEnd(turn, open);
  EndWaiting(turn, run);
  OnTriggeredRunEnd(turn, open);
  turn.state.runs.ForgetPlan(open);
  const auto ended = turn.state.runs.open.extract(id);
  GiveBackKeys(turn, ended.mapped().run);
}

}  // namespace muster::engine
