#include "engine/runs/dispatch.hpp"

#include <algorithm>

#include "engine/runs/ending.hpp"
#include "engine/runs/needs.hpp"

namespace muster::engine {
namespace {

HostEntry* HostOf(Turn& turn, const OpenRun& run, std::uint32_t ordinal) {
  const auto found = turn.state.hosts.find((*run.targets)[ordinal].host);
  return found == turn.state.hosts.end() ? nullptr : &found->second;
}

bool HasRoom(const OpenRun& run) {
  const std::uint32_t concurrency = run.Spec().concurrency;
  return concurrency == 0 || run.attempts.size() < concurrency;
}

void Dispatch(Turn& turn, OpenRun& run, std::uint32_t ordinal, HostEntry& host) {
  if (const auto lacking = WhatLacks(*run.Spec().command, host))
    return EndUnsent(turn, run, ordinal, TaskEvent::kRefusedForGood, *lacking);
  Slot& slot = run.slots[ordinal];
  TaskRecord record;
  record.key = {run.run.id, run.CurrentStage().visit, ordinal, host.host.id,
                Attempt(++slot.attempt)};
  record.state = TaskState::kSent;
  record.sent = turn.now.wall;
  record.store = host.host.store;
  record.boot = host.host.boot;
  record.sent_commit = turn.commit;
  record.sent_term = turn.state.term;
  turn.Put(PutTask{record});
  run.counts.Move(slot.state, TaskState::kSent);
  slot.state = TaskState::kSent;
  host.queued.erase({run.run.id, ordinal});
  host.open.insert({run.run.id, ordinal});
  SendOrder(turn, run, record, host);
  turn.Tell(
      TaskNews{.task = record.key, .state = TaskState::kSent, .reason = {}, .commit = turn.commit});
  run.attempts[ordinal] = std::move(record);
  ArmDeadline(turn, run, ordinal, AttemptBound(turn.state.options, run));
  turn.TellRun(run);
}

// The host's turn has come: send, or wait for it.
void GiveTurn(Turn& turn, OpenRun& run, std::uint32_t ordinal) {
  Slot& slot = run.slots[ordinal];
  if (slot.state != TaskState::kWaiting) return;
  HostEntry* host = HostOf(turn, run, ordinal);
  run.counts.Move(slot.state, TaskState::kQueued);
  slot.state = TaskState::kQueued;
  slot.wait_until = turn.now.mono + run.Spec().wait_offline;
  turn.TellRun(run);
  if (host == nullptr) {
    EndUnsent(turn, run, ordinal, TaskEvent::kOfflineOver, "the host is no longer known");
  } else if (host->host.state == HostState::kRevoked) {
    EndUnsent(turn, run, ordinal, TaskEvent::kOfflineOver, "the host is revoked");
  } else if (host->Online()) {
    Dispatch(turn, run, ordinal, *host);
  } else {
    host->queued.insert({run.run.id, ordinal});
    turn.Tell(TaskNews{.task = {run.run.id, run.CurrentStage().visit, ordinal, host->host.id,
                                Attempt(slot.attempt)},
                       .state = TaskState::kQueued,
                       .reason = {},
                       .commit = turn.commit});
    turn.Spend();
    ArmWait(turn, run, ordinal);
  }
}

void TakeReady(Turn& turn, OpenRun& run) {
  while (!run.ready.empty() && HasRoom(run) && !turn.Spent()) {
    const std::uint32_t ordinal = run.ready.front();
    run.ready.pop_front();
    if (run.slots[ordinal].state != TaskState::kQueued) continue;
    HostEntry* host = HostOf(turn, run, ordinal);
    if (host == nullptr || !host->Online()) continue;  // its wait was armed when the link went
    if (run.slots[ordinal].retry_at > turn.now.mono) continue;  // the retry timer brings it back
    Dispatch(turn, run, ordinal, *host);
  }
}

// Past a stop or the failure limit: what was not sent ends, what runs is told to.
void WindUp(Turn& turn, OpenRun& run) {
  const auto hosts = static_cast<std::uint32_t>(run.slots.size());
  const bool stopped = run.run.stop.has_value();
  const std::string reason =
      stopped ? "the run was stopped" : "too many hosts failed before its turn";
  for (; run.kill_cursor < hosts && !turn.Spent(); ++run.kill_cursor) {
    const std::uint32_t ordinal = run.kill_cursor;
    const TaskState state = run.slots[ordinal].state;
    if (state == TaskState::kWaiting || state == TaskState::kQueued) {
      if (run.restored) continue;  // its host's Hello or the end of the grace ends it
      EndUnsent(turn, run, ordinal, TaskEvent::kStop, reason);
      continue;
    }
    const auto attempt = run.attempts.find(ordinal);
    if (!stopped || attempt == run.attempts.end()) continue;
    turn.Spend();
    const HostEntry& host = turn.state.hosts.at(attempt->second.key.host);
    if (host.Online())
      turn.FrameFor(host.link).kills.push_back({attempt->second.key, run.run.stop->grace});
    ArmDeadline(turn, run, ordinal, KillBound(turn.state.options, run.run.stop->grace));
  }
}

void EndRun(Turn& turn, OpenRun& open) {
  Stage& stage = open.CurrentStage();
  if (open.restored) {
    // Batches were no longer judged one by one.
    open.limit_passed =
        open.counts.Failures() >
        open.Spec().max_failures.Of(static_cast<std::uint32_t>(open.slots.size()), 0);
    if (!open.run.stop) open.run.reason = "it was open in the backup this server was restored from";
  }
  stage.state = StageEnd(open.counts, open.limit_passed, open.run.stop.has_value());
  stage.ended = turn.now.wall;
  stage.counts = open.counts;
  open.run.state = RunEnd(stage.state);
  open.run.ended = turn.now.wall;
  if (open.limit_passed && !open.restored && !open.run.stop && !open.Spec().batches.Empty())
    open.run.reason = fmt::format("more than {} failed in batch {}",
                                  FormatHostShare(open.Spec().max_failures), open.batch + 1);
  turn.Put(PutRun{open.run});
  const RunId id = open.run.id;
  const auto logs = turn.state.logs_open.find(id);
  turn.Tell(RunNews{.run = id,
                    .state = open.run.state,
                    .counts = open.counts,
                    .logs_open = logs == turn.state.logs_open.end() ? 0 : logs->second,
                    .commit = turn.commit,
                    .is_new = false,
                    .whole = std::make_shared<const Run>(open.run),
                    .targets = {}});
  turn.state.untold.erase(id);
  turn.state.runs.erase(id);
}

// The batch's hosts have all ended: judge it, open the next one.
void EndBatch(OpenRun& run) {
  const std::uint32_t size = run.batch_end - run.batch_begin;
  if (run.batch_failures > run.Spec().max_failures.Of(size, 0)) run.limit_passed = true;
  if (run.batch_end >= run.slots.size()) return;
  if (run.limit_passed) {
    run.winding_up = true;
    return;
  }
  OpenBatch(run, run.batch + 1, run.batch_end);
}

}  // namespace

void OpenBatch(OpenRun& run, std::uint32_t index, std::uint32_t begin) {
  const auto hosts = static_cast<std::uint32_t>(run.slots.size());
  run.batch = index;
  run.batch_begin = begin;
  run.batch_end = std::min(hosts, begin + run.Spec().batches.Size(index, hosts));
  run.cursor = begin;
  run.batch_left = 0;
  run.batch_failures = 0;
  for (std::uint32_t i = begin; i < run.batch_end; ++i) {
    if (!IsFinal(run.slots[i].state))
      ++run.batch_left;
    else if (CountsAsFailure(run.slots[i].state))
      ++run.batch_failures;
  }
}

void SendOrder(Turn& turn, OpenRun& run, const TaskRecord& record, const HostEntry& host) {
  const StageSpec& spec = run.Spec();
  turn.FrameFor(host.link).orders.push_back(
      {.task = record.key,
       .session = host.host.session,
       .term = turn.state.term,
       .start_by = (turn.now.mono + turn.state.options.order_life).ms,
       .needs = NeedsOf(*spec.command),
       .stage = spec.name,
       .host_name = host.host.name,
       .command = spec.command});
}

void ArmDeadline(Turn& turn, OpenRun& run, std::uint32_t ordinal, Duration bound) {
  Slot& slot = run.slots[ordinal];
  slot.deadline = bound == Duration::max() ? kNever : turn.now.mono + bound;
  if (slot.deadline != kNever)
    turn.state.timers.push(
        {slot.deadline, TimerKind::kTaskDeadline, run.run.id, ordinal, slot.attempt});
}

Duration AttemptBound(const Options& options, const OpenRun& run) {
  const muster::Command& command = *run.Spec().command;
  if (command.timeout == Duration::zero()) return Duration::max();
  return command.timeout + command.grace + options.reconnect_bound + options.order_life;
}

Duration KillBound(const Options& options, Duration grace) {
  return grace + options.reconnect_bound;
}

void MakeReady(Turn& turn, OpenRun& run, std::uint32_t ordinal) {
  run.ready.push_back(ordinal);
  turn.Wake(run);
}

void ArmWait(Turn& turn, OpenRun& run, std::uint32_t ordinal) {
  turn.state.timers.push(
      {run.slots[ordinal].wait_until, TimerKind::kWaitOver, run.run.id, ordinal, 0});
}

bool Advance(Turn& turn, OpenRun& run) {
  run.working = false;
  while (!turn.Spent()) {
    if (run.winding_up) {
      WindUp(turn, run);
    } else {
      TakeReady(turn, run);
      while (run.cursor < run.batch_end && HasRoom(run) && !turn.Spent())
        GiveTurn(turn, run, run.cursor++);
      if (run.batch_left == 0) {
        EndBatch(run);
        if (run.winding_up || run.batch_left > 0)
          continue;  // there is another batch, or an end to make
      }
    }
    if (run.counts.Ended() == run.slots.size()) {
      EndRun(turn, run);
      return false;
    }
    break;
  }
  const bool unfinished = run.winding_up
                              ? run.kill_cursor < run.slots.size()
                              : HasRoom(run) && (run.cursor < run.batch_end || !run.ready.empty());
  const bool over = run.counts.Ended() == run.slots.size();
  if (unfinished || over || (run.batch_left == 0 && !run.winding_up)) turn.Wake(run);
  return true;
}

}  // namespace muster::engine
