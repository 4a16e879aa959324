#include "engine/load.hpp"

#include <algorithm>

#include "engine/runs/dispatch.hpp"

namespace muster::engine {
namespace {

// An attempt the node refused as too late leaves its task waiting for the next one.
bool WasRefusedLate(const TaskRecord& record) {
  return record.state == TaskState::kUnreachable && static_cast<bool>(record.sent);
}

void LoadSlots(State& state, OpenRun& open, std::vector<TaskRecord>& tasks, Now now) {
  std::ranges::sort(tasks, {}, [](const TaskRecord& task) {
    return std::pair(task.key.ordinal, task.key.attempt);
  });
  for (auto& task : tasks) {
    const std::uint32_t ordinal = task.key.ordinal;
    if (ordinal >= open.slots.size()) continue;
    Slot& slot = open.slots[ordinal];
    slot.attempt = task.key.attempt.value;
    slot.state = WasRefusedLate(task) ? TaskState::kWaiting : task.state;
    if (IsFinal(task.state)) {
      if (task.log.state == LogState::kOpen) {
        state.CountOpenLog(task.key.run);
        state.Linger(std::move(task));
      }
      continue;
    }
    const Duration bound = AttemptBound(state.options, open);
    const Duration out = std::clamp(now.wall - task.sent, Duration(0), bound);
    slot.deadline =
        bound == Duration::max() ? kNever : now.mono + state.options.takeover_grace + (bound - out);
    if (slot.deadline != kNever)
      state.timers.push(
          {slot.deadline, TimerKind::kTaskDeadline, open.run.id, ordinal, slot.attempt});
    state.hosts[task.key.host].open.insert({open.run.id, ordinal});
    open.attempts[ordinal] = std::move(task);
  }
}

// Batches follow from the plan: the current one is the first that has not ended.
void FindBatch(OpenRun& open) {
  OpenBatch(open, 0, 0);
  while (open.batch_left == 0 && open.batch_end < open.slots.size()) {
    if (open.batch_failures > open.Spec().max_failures.Of(open.batch_end - open.batch_begin, 0)) {
      open.limit_passed = true;
      open.winding_up = true;
      return;
    }
    OpenBatch(open, open.batch + 1, open.batch_end);
  }
}

// Nobody here can say which of the unsent tasks were sent after the backup: they wait for their
// hosts to say so.
void AwaitWord(State& state, OpenRun& open, Now now) {
  open.restored = true;
  open.winding_up = true;
  for (std::uint32_t i = 0; i < open.slots.size(); ++i) {
    Slot& slot = open.slots[i];
    if (slot.state != TaskState::kWaiting) continue;
    slot.state = TaskState::kQueued;
    slot.wait_until = now.mono + state.options.takeover_grace;
    state.timers.push({slot.wait_until, TimerKind::kWaitOver, open.run.id, i, 0});
    if (const auto host = state.hosts.find((*open.targets)[i].host); host != state.hosts.end())
      host->second.queued.insert({open.run.id, i});
  }
}

void LoadRun(State& state, Snapshot::OpenRun&& loaded, Now now) {
  const RunId id = loaded.run.id;
  OpenRun& open = state.runs[id];
  open.run = std::move(loaded.run);
  open.targets = std::move(loaded.targets);
  open.slots.resize(open.targets->size());
  LoadSlots(state, open, loaded.tasks, now);
  FindBatch(open);
  if (open.run.stop) open.winding_up = true;
  if (state.FromBackup(id)) AwaitWord(state, open, now);
  for (const auto& slot : open.slots) ++open.counts[slot.state];
  open.working = true;
  state.work.push_back(id);
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
  for (auto& run : snapshot.runs) LoadRun(state, std::move(run), now);
  for (auto& record : snapshot.open_logs) {
    if (state.lingering.contains(record.key)) continue;
    state.CountOpenLog(record.key.run);
    state.Linger(std::move(record));
  }
  for (auto& open : snapshot.wishes) state.wishes[open.task.host][open.task] = std::move(open.wish);
  return state;
}

}  // namespace muster::engine
