#include "engine/load.hpp"

#include <algorithm>

#include "engine/limiter/limiter.hpp"
#include "engine/notices/notices.hpp"
#include "engine/runs/dispatch.hpp"
#include "engine/runs/ending.hpp"
#include "engine/runs/replay.hpp"
#include "engine/runs/sequence.hpp"
#include "engine/runs/start.hpp"
#include "engine/triggers/in_memory.hpp"

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
      state.timers.push({.at = slot.deadline,
                         .kind = TimerKind::kTaskDeadline,
                         .task = place,
                         .attempt = slot.attempt});
    state.hosts[task.key.host].open.insert(place);
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
  state.timers.push({.at = *visit.due,
                     .kind = TimerKind::kVisitDue,
                     .task = {open.run.id, visit.record.visit, 0}});
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
      state.timers.push(
          {.at = visit.slots[i].wait_until, .kind = TimerKind::kWaitOver, .task = place});
      if (const auto host = state.hosts.find((*open.targets)[ordinal].host);
          host != state.hosts.end())
        host->second.queued.insert(place);
    }
  }
}

void ArmBudget(State& state, const OpenRun& open, Now now) {
  if (!open.run.ticking) return;
  const Duration used = open.run.used + (now.wall - open.run.ticking);
  state.timers.push({.at = now.mono + std::max(Duration::zero(), open.run.spec.timeout - used),
                     .kind = TimerKind::kBudget,
                     .task = {open.run.id, {}, 0}});
}

void LoadRun(State& state, Snapshot::OpenRun&& loaded, Now now) {
  const RunId id = loaded.run.id;
  OpenRun& open = state.runs[id];
  open.run = std::move(loaded.run);
  open.targets = std::move(loaded.targets);
  state.AddBelow(open.run);
  SettleOutput(open.run);
  state.CountPlan(open);
  for (const auto& task : loaded.tasks) {
    if (!IsFinal(task.state) || task.log.state != LogState::kOpen) continue;
    state.CountOpenLog(id);
    state.Linger(task);
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
  state.work.Push(open.run.spec.priority, id);
}

// A stage that waits for a run which has ended, as earlier versions left it after a crash.
void EndForsaken(State& state) {
  for (auto& [id, run] : state.runs)
    for (auto& [number, visit] : run.visits) {
      const RunId child = visit.record.child;
      if (!child || visit.ends_as || state.runs.contains(child)) continue;
      visit.record.reason =
          fmt::format("run {} has ended, and how it did was not kept", FormatRunId(child));
      visit.ends_as = StageState::kFailed;
    }
}

// How long lost attempts may still run, counted from now on: what an earlier leader counted is gone
// with it.
LostBounds BoundsOf(const Snapshot& snapshot) {
  LostBounds bounds;
  const auto add = [&](const TaskRecord& task) {
    if (task.state == TaskState::kLost) bounds[task.key] = {task.surely_over, task.doubted};
  };
  std::ranges::for_each(snapshot.lost, add);
  for (const auto& run : snapshot.runs) std::ranges::for_each(run.tasks, add);
  return bounds;
}

}  // namespace

State LoadState(Snapshot snapshot, Options options, Now now) {
  State state;
  state.options = options;
  state.cluster = snapshot.cluster;
  state.term = snapshot.fence.term;
  state.loaded_at = snapshot.fence.number;
  state.keys_forgotten_at = snapshot.fence.number;
  state.loaded = now.mono;
  state.id_space = snapshot.id_space;
  state.next_run = snapshot.next_run;
  state.next_host = snapshot.next_host;
  state.audit = std::move(snapshot.audit);
  for (auto& token : snapshot.tokens) state.tokens[token.name] = std::move(token);
  state.restored = snapshot.restored;
  for (auto& host : snapshot.hosts) {
    state.host_by_key[host.key] = host.id;
    state.host_by_name[host.name] = host.id;
    state.hosts[host.id].host = std::move(host);
  }
  for (auto& invite : snapshot.invites) state.invites[invite.id] = std::move(invite);
  for (auto& join : snapshot.pending) state.pending[join.name] = {join, now.mono};
  const LostBounds lost = BoundsOf(snapshot);
  for (auto& run : snapshot.runs) LoadRun(state, std::move(run), now);
  EndForsaken(state);
  LoadHolds(state, snapshot.holds, lost);
  LoadLost(state, lost);
  for (auto& record : snapshot.open_logs) {
    if (state.lingering.contains(record.key)) continue;
    state.CountOpenLog(record.key.run);
    state.Linger(std::move(record));
  }
  for (auto& open : snapshot.wishes) state.wishes[open.task.host][open.task] = std::move(open.wish);
  for (auto& head : snapshot.documents) {
    const std::pair key{head.kind, head.name};
    state.documents[key] = std::move(head);
  }
  LoadNotices(state, std::move(snapshot.notices), now);
  for (auto& freeze : snapshot.freezes) state.freezes[freeze.id] = std::move(freeze);
  state.triggers.looked = now;
  state.triggers.counts = snapshot.trigger_counts;
  LoadTriggers(state, std::move(snapshot.triggers));
  return state;
}

}  // namespace muster::engine
