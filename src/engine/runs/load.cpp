#include "engine/runs/load.hpp"

#include <algorithm>

#include "engine/runs/dispatch.hpp"
#include "engine/runs/ending.hpp"
#include "engine/runs/replay.hpp"
#include "engine/runs/sequence.hpp"
#include "engine/runs/start.hpp"

namespace muster::engine {
namespace {

void ArmAttempts(State& state, OpenRun& open, OpenVisit& visit, Now now) {
  for (auto& [ordinal, task] : visit.attempts) {
    if (!task.key.host) continue;  // the server's own
    const TaskPlace place{open.run.id, visit.record.visit, ordinal};
    const Duration bound = AttemptBound(state.options, *SharedCommandOf(open.SpecOf(visit)));
    const Duration out = std::clamp(now.wall - task.sent, Duration(0), bound);
    Slot& slot = visit.At(ordinal);
    slot.wait_until = now.mono + state.options.reconnect_bound + open.SpecOf(visit).wait_offline;
    slot.deadline =
        bound == Duration::max() ? kNever : now.mono + state.options.takeover_grace + (bound - out);
    if (slot.deadline != kNever)
      state.timers.push({.at = slot.deadline, .due = TaskDeadline{place, slot.attempt}});
    state.hosts.entries[task.key.host].open.insert(place);
  }
}

// Waits and answers are due by the wall clock, which a restart does not stop.
void ArmDue(State& state, const OpenRun& open, OpenVisit& visit, Now now) {
  const bool asks = visit.record.state == StageState::kAwaitingApproval;
  if (!visit.record.until || IsFinal(visit.record.state)) return;
  if (!asks && open.run.pause) return;  // stands still
  const bool waits = std::holds_alternative<WaitAction>(open.SpecOf(visit).action) ||
                     visit.record.phase == VisitPhase::kWait;
  if (!asks && !waits) return;
  visit.due = now.mono + std::max(Duration::zero(), visit.record.until - now.wall);
  state.timers.push({.at = *visit.due, .due = VisitDue{open.run.id, visit.record.visit}});
}

// Nobody here can say which of the unsent tasks were sent after the backup: they wait for their
// hosts to say so. Nothing more is begun.
void AwaitWord(State& state, OpenRun& open, Now now) {
  open.restored = true;
  if (open.run.state == RunState::kQueued) {
    open.run.outcome = StageState::kFailed;
    open.run.closing = true;
  }
  open.run.state = RunState::kRunning;
  open.run.pause.reset();
  for (auto& [id, visit] : open.visits) {
    visit.winding_up = true;
    const bool holds_others =
        std::holds_alternative<SequenceAction>(open.SpecOf(visit).action) && !IsIdle(open, visit);
    if (visit.slots.empty() && !holds_others && !visit.server_lost)
      visit.ends_as = StageState::kFailed;
    for (std::size_t i = 0; i < visit.slots.size(); ++i) {
      const std::uint32_t ordinal = visit.hosts[i];
      if (visit.slots[i].state != TaskState::kWaiting) continue;
      MoveSlot(open, visit, ordinal, TaskState::kQueued);
      visit.slots[i].wait_until = now.mono + state.options.takeover_grace;
      const TaskPlace place{open.run.id, id, ordinal};
      state.timers.push({.at = visit.slots[i].wait_until, .due = WaitOver{place}});
      if (const auto host = state.hosts.entries.find((*open.targets)[ordinal].host);
          host != state.hosts.entries.end())
        host->second.queued.insert(place);
    }
  }
}

void ArmBudget(State& state, const OpenRun& open, Now now) {
  if (!open.run.ticking) return;
  const Duration used = open.run.used + (now.wall - open.run.ticking);
  state.timers.push({.at = now.mono + std::max(Duration::zero(), open.run.spec.timeout - used),
                     .due = BudgetDue{open.run.id}});
}

void LoadRun(State& state, Snapshot::OpenRun&& loaded, Now now) {
  const RunId id = loaded.run.id;
  OpenRun& open = state.runs.open[id];
  open.run = std::move(loaded.run);
  open.targets = std::move(loaded.targets);
  state.runs.AddBelow(open.run);
  SettleOutput(open.run);
  state.runs.CountPlan(open);
  for (const auto& task : loaded.tasks) {
    if (!IsFinal(task.state) || task.log.state != LogState::kOpen) continue;
    state.runs.CountOpenLog(id);
    state.tasks.Linger(task);
  }
  Replay(open, loaded.visits, std::move(loaded.tasks));
  for (auto& [number, visit] : open.visits) {
    ArmAttempts(state, open, visit, now);
    ArmDue(state, open, visit, now);
  }
  if (state.FromBackup(id) && open.run.next_visit <= FirstVisitOf(state.id_space))
    AwaitWord(state, open, now);
  ArmBudget(state, open, now);
  open.working = true;
  state.runs.work.Push(open.run.spec.priority, id);
}

// A stage that waits for a run which has ended, as earlier versions left it after a crash.
void EndForsaken(State& state) {
  for (auto& [id, run] : state.runs.open)
    for (auto& [number, visit] : run.visits) {
      const RunId child = visit.record.child;
      if (!child || visit.ends_as || state.runs.open.contains(child)) continue;
      visit.record.reason =
          fmt::format("run {} has ended, and how it did was not kept", FormatRunId(child));
      visit.ends_as = StageState::kFailed;
    }
}

}  // namespace

void LoadRuns(State& state, Snapshot& snapshot, Now now) {
  state.runs.next = snapshot.next_run;
  for (auto& run : snapshot.runs) LoadRun(state, std::move(run), now);
  EndForsaken(state);
}

void LoadTasks(State& state, Snapshot& snapshot) {
  for (auto& record : snapshot.open_logs) {
    if (state.tasks.lingering.contains(record.key)) continue;
    state.runs.CountOpenLog(record.key.run);
    state.tasks.Linger(std::move(record));
  }
  for (auto& open : snapshot.wishes)
    state.tasks.wishes[open.task.host][open.task] = std::move(open.wish);
}

}  // namespace muster::engine
