#include "engine/runs/dispatch.hpp"

#include <algorithm>

#include "domain/copies_text.hpp"
#include "engine/limiter/limiter.hpp"
#include "engine/runs/again.hpp"
#include "engine/runs/batch_text.hpp"
#include "engine/runs/ending.hpp"
#include "engine/runs/flow.hpp"
#include "engine/runs/needs.hpp"
#include "engine/runs/render.hpp"
#include "engine/runs/spread.hpp"
#include "engine/runs/stage_order.hpp"

namespace muster::engine {
namespace {

HostEntry* HostOf(Turn& turn, const OpenRun& run, std::uint32_t ordinal) {
  const auto found = turn.state.hosts.entries.find((*run.targets)[ordinal].host);
  return found == turn.state.hosts.entries.end() ? nullptr : &found->second;
}

bool HasRoom(const OpenRun& run, const OpenVisit& visit) {
  const std::uint32_t concurrency = ConcurrencyOf(run, visit);
  return concurrency == 0 || visit.attempts.size() < concurrency;
}

bool IsPaused(const OpenRun& run) { return run.run.pause.has_value(); }

void Dispatch(Turn& turn, OpenRun& run, OpenVisit& visit, std::uint32_t ordinal, HostEntry& host) {
  auto command =
      visit.command ? Result<HostAction>(visit.command) : RenderFor(turn, run, visit, ordinal);
  if (!command)
    return EndUnsent(turn, run, visit, ordinal, TaskEvent::kRefusedForGood,
                     command.error().message);
  if (const auto lacking = WhatLacks(**command, host))
    return EndUnsent(turn, run, visit, ordinal, TaskEvent::kRefusedForGood, *lacking);
  Slot& slot = visit.At(ordinal);
  const TaskPlace place{run.run.id, visit.record.visit, ordinal};
  TaskRecord record;
  record.key = {run.run.id, visit.record.visit, ordinal, host.host.id, Attempt(slot.attempt + 1)};
  if (!run.SpecOf(visit).limits.empty()) {
    const auto keys = RenderKeys(turn.state, run, visit, ordinal);
    if (!keys)
      return EndUnsent(turn, run, visit, ordinal, TaskEvent::kRefusedForGood, keys.error().message);
    if (!TakeKeys(turn, run, record.key, *keys, place)) {
      host.queued.insert(place);
      return turn.Spend();
    }
  }
  ++slot.attempt;
  // What waited for something else, a key for example, has the whole wait for its host before it.
  if (slot.wait_until <= turn.now.mono)
    slot.wait_until = turn.now.mono + run.SpecOf(visit).wait_offline;
  record.state = TaskState::kSent;
  record.sent = turn.now.wall;
  record.store = host.host.store;
  record.boot = host.host.boot;
  record.sent_commit = turn.commit;
  record.sent_term = turn.state.term;
  turn.Put(PutTask{record});
  MoveSlot(run, visit, ordinal, TaskState::kSent);
  run.hosts[ordinal].touched = true;
  host.queued.erase(place);
  host.open.insert(place);
  SendOrder(turn, run, visit, record, host, *command);
  turn.Tell(
      TaskNews{.task = record.key, .state = TaskState::kSent, .reason = {}, .commit = turn.commit});
  visit.attempts[ordinal] = std::move(record);
  ArmDeadline(turn, run, visit, ordinal, AttemptBound(turn.state.options, **command));
  turn.TellRun(run);
}

void TellQueued(Turn& turn, const OpenRun& run, const OpenVisit& visit, std::uint32_t ordinal,
                HostId host) {
  turn.Tell(TaskNews{
      .task = {run.run.id, visit.record.visit, ordinal, host, Attempt(visit.At(ordinal).attempt)},
      .state = TaskState::kQueued,
      .reason = {},
      .commit = turn.commit});
}

// The host's turn has come: send, or wait for it.
void GiveTurn(Turn& turn, OpenRun& run, OpenVisit& visit, std::uint32_t ordinal) {
  Slot& slot = visit.At(ordinal);
  if (slot.state != TaskState::kWaiting) return;
  const StageSpec& spec = run.SpecOf(visit);
  HostEntry* host = HostOf(turn, run, ordinal);
  MoveSlot(run, visit, ordinal, TaskState::kQueued);
  slot.wait_until = turn.now.mono + spec.wait_offline;
  turn.TellRun(run);
  if (host == nullptr)
    return EndUnsent(turn, run, visit, ordinal, TaskEvent::kOfflineOver,
                     "the host is no longer known");
  if (host->host.state == HostState::kRevoked)
    return EndUnsent(turn, run, visit, ordinal, TaskEvent::kOfflineOver, "the host is revoked");
  if (host->host.state == HostState::kCopy)
    return EndUnsent(turn, run, visit, ordinal, TaskEvent::kRefusedForGood,
                     CopyReason(host->host.note));
  const Duration delay = SpreadOf(spec, run, visit, ordinal, turn.now);
  if (delay > Duration::zero()) {
    slot.retry_at = turn.now.mono + delay;
    slot.wait_until = slot.retry_at + spec.wait_offline;
    turn.state.timers.push(
        {.at = slot.retry_at, .due = RetryDue{{run.run.id, visit.record.visit, ordinal}}});
  } else if (host->Online()) {
    return Dispatch(turn, run, visit, ordinal, *host);
  }
  host->queued.insert({run.run.id, visit.record.visit, ordinal});
  TellQueued(turn, run, visit, ordinal, host->host.id);
  turn.Spend();
  ArmWait(turn, run, visit, ordinal);
}

void TakeReady(Turn& turn, OpenRun& run, OpenVisit& visit) {
  while (!visit.ready.empty() && HasRoom(run, visit) && !turn.Spent()) {
    const std::uint32_t ordinal = visit.ready.front();
    visit.ready.pop_front();
    if (visit.At(ordinal).state != TaskState::kQueued) continue;
    HostEntry* host = HostOf(turn, run, ordinal);
    if (host == nullptr || !host->Online()) continue;  // its wait was armed when the link went
    if (visit.At(ordinal).retry_at > turn.now.mono) continue;  // the retry timer brings it back
    Dispatch(turn, run, visit, ordinal, *host);
  }
}

// Past a stop or the failure limit: what was not sent ends, what runs is told to.
void WindUp(Turn& turn, OpenRun& run, OpenVisit& visit) {
  const bool stopped = run.Stopping();
  const std::string reason = stopped ? "the run was stopped"
                             : visit.passed_because.empty()
                                 ? "too many hosts failed before its turn"
                                 : "nothing more was started: " + visit.passed_because;
  for (; visit.kill_cursor < visit.hosts.size() && !turn.Spent(); ++visit.kill_cursor) {
    const std::uint32_t ordinal = visit.hosts[visit.kill_cursor];
    const TaskState state = visit.slots[visit.kill_cursor].state;
    if (state == TaskState::kWaiting || state == TaskState::kQueued) {
      if (run.restored) continue;  // its host's Hello or the end of the grace ends it
      EndUnsent(turn, run, visit, ordinal, TaskEvent::kStop, reason);
      continue;
    }
    const auto attempt = visit.attempts.find(ordinal);
    if (!stopped || attempt == visit.attempts.end()) continue;
    turn.Spend();
    const HostEntry& host = turn.state.hosts.entries.at(attempt->second.key.host);
    if (host.Online())
      turn.FrameFor(host.link).kills.push_back({attempt->second.key, run.run.stop->grace});
    ArmDeadline(turn, run, visit, ordinal, KillBound(turn.state.options, run.run.stop->grace));
  }
}

bool AllEnded(const OpenVisit& visit) { return visit.counts.Ended() == visit.slots.size(); }

std::uint32_t BatchSize(const OpenRun& run, const OpenVisit& visit, std::uint32_t index) {
  const StageSpec& spec = run.SpecOf(visit);
  // Without batches a stage is one of all its hosts, however many of the run's they are.
  if (spec.batches.Empty()) return static_cast<std::uint32_t>(visit.hosts.size());
  return spec.batches.Size(index, run.run.hosts);
}

void OpenBatch(OpenRun& run, OpenVisit& visit, std::uint32_t index, std::uint32_t begin) {
  const auto hosts = static_cast<std::uint32_t>(visit.hosts.size());
  visit.record.batch = index;
  visit.record.batch_begin = begin;
  visit.record.batch_end = std::min(hosts, begin + BatchSize(run, visit, index));
  visit.cursor = begin;
  CountBatch(run, visit);
}

// The batch's hosts have all ended: judge it, open the next one.
void EndBatch(Turn& turn, OpenRun& run, OpenVisit& visit) {
  const StageSpec& spec = run.SpecOf(visit);
  const bool last = visit.record.batch_end >= visit.hosts.size();
  const std::uint32_t before = spec.batches.Empty() ? ThroughBefore(run, visit.record.stage) : 0;
  const BatchEnd end{.hosts = visit.record.batch_end - visit.record.batch_begin + before,
                     .succeeded = visit.batch_succeeded + before,
                     .failed = visit.batch_failures,
                     .unreachable = visit.batch_unreachable};
  const std::string why = WhyBatchEnds(end, LimitsOf(run, visit.record.stage), last);
  if (!why.empty() && !last && spec.on_limit == OnLimit::kPause) {
    PauseAtLimit(turn, run, visit, InBatch(why, visit.record.batch + 1, spec.name));
    return;
  }
  if (!why.empty()) {
    visit.limit_passed = true;
    if (!spec.batches.Empty()) visit.passed_because = InBatch(why, visit.record.batch + 1);
  }
  if (last) return;
  if (visit.limit_passed) {
    visit.winding_up = true;
    return;
  }
  NextBatch(turn, run, visit);
}

}  // namespace

void NextBatch(Turn& turn, OpenRun& run, OpenVisit& visit) {
  OpenBatch(run, visit, visit.record.batch + 1, visit.record.batch_end);
  TellBatch(turn, run, visit);
}

std::uint32_t ConcurrencyOf(const OpenRun& run, const OpenVisit& visit) {
  std::uint32_t concurrency = run.SpecOf(visit).concurrency;
  for (const auto& set : run.run.overrides)
    if (set.concurrency && (!set.stage || *set.stage == visit.record.stage))
      concurrency = *set.concurrency;
  return concurrency;
}

BatchLimits LimitsOf(const OpenRun& run, std::uint32_t stage) {
  BatchLimits limits{run.run.spec.stages[stage].max_failures,
                     run.run.spec.stages[stage].max_unreachable};
  for (const auto& set : run.run.overrides) {
    if (set.stage && *set.stage != stage) continue;
    if (set.max_failures) limits.max_failures = *set.max_failures;
    if (set.max_unreachable) limits.max_unreachable = set.max_unreachable;
  }
  return limits;
}

bool FailsBatch(const StageSpec& spec, TaskState state) {
  return CountsAsFailure(state) || (state == TaskState::kRefused && !spec.batches.Empty());
}

void CountInBatch(const OpenRun& run, OpenVisit& visit, TaskState ended) {
  if (FailsBatch(run.SpecOf(visit), ended)) ++visit.batch_failures;
  if (ended == TaskState::kSucceeded) ++visit.batch_succeeded;
  if (ended == TaskState::kUnreachable) ++visit.batch_unreachable;
}

void CountBatch(const OpenRun& run, OpenVisit& visit) {
  visit.batch_left = 0;
  visit.batch_failures = visit.batch_succeeded = visit.batch_unreachable = 0;
  for (std::uint32_t i = visit.record.batch_begin; i < visit.record.batch_end; ++i) {
    if (!IsFinal(visit.slots[i].state))
      ++visit.batch_left;
    else
      CountInBatch(run, visit, visit.slots[i].state);
  }
}

void OpenTasks(OpenRun& run, OpenVisit& visit) {
  visit.slots.resize(visit.hosts.size());
  visit.counts[TaskState::kWaiting] = static_cast<std::uint32_t>(visit.hosts.size());
  const std::uint32_t first = visit.record.batch_end;
  OpenBatch(run, visit, visit.record.batch, 0);
  if (first == 0) return;
  visit.record.batch_end = std::min(first, visit.record.batch_end);
  CountBatch(run, visit);
}

void SendOrder(Turn& turn, const OpenRun& run, const OpenVisit& visit, const TaskRecord& record,
               const HostEntry& host, HostAction command) {
  turn.FrameFor(host.link).orders.push_back(
      {.task = record.key,
       .session = host.host.session,
       .term = turn.state.term,
       .start_by =
           std::min(turn.now.mono + turn.state.options.order_life, turn.state.lead_until).ms,
       .needs = NeedsOf(*command),
       .stage = run.SpecOf(visit).name,
       .host_name = host.host.name,
       .command = std::move(command)});
}

void ArmDeadline(Turn& turn, OpenRun& run, OpenVisit& visit, std::uint32_t ordinal,
                 Duration bound) {
  Slot& slot = visit.At(ordinal);
  slot.deadline = bound == Duration::max() ? kNever : turn.now.mono + bound;
  if (slot.deadline != kNever)
    turn.state.timers.push(
        {.at = slot.deadline,
         .due = TaskDeadline{{run.run.id, visit.record.visit, ordinal}, slot.attempt}});
}

Duration AttemptBound(const Options& options, const muster::Command& command) {
  if (command.timeout == Duration::zero()) return Duration::max();
  return command.timeout + command.grace + options.reconnect_bound + options.order_life;
}

Duration KillBound(const Options& options, Duration grace) {
  return grace + options.reconnect_bound;
}

void MakeReady(Turn& turn, OpenRun& run, OpenVisit& visit, std::uint32_t ordinal) {
  visit.ready.push_back(ordinal);
  turn.Wake(run);
}

void ArmWait(Turn& turn, OpenRun& run, OpenVisit& visit, std::uint32_t ordinal) {
  turn.state.timers.push({.at = visit.At(ordinal).wait_until,
                          .due = WaitOver{{run.run.id, visit.record.visit, ordinal}}});
}

bool HasWork(const OpenRun& run, const OpenVisit& visit) {
  if (visit.slots.empty() || visit.ends_as) return false;
  if (AllEnded(visit)) return true;
  if (visit.winding_up) return visit.kill_cursor < visit.hosts.size();
  if (IsPaused(run)) return false;
  return visit.batch_left == 0 ||
         (HasRoom(run, visit) && (visit.cursor < visit.record.batch_end || !visit.ready.empty()));
}

void AdvanceTasks(Turn& turn, OpenRun& run, OpenVisit& visit) {
  while (!turn.Spent()) {
    if (visit.winding_up) {
      WindUp(turn, run, visit);
    } else if (!IsPaused(run)) {
      TakeReady(turn, run, visit);
      while (visit.cursor < visit.record.batch_end && HasRoom(run, visit) && !turn.Spent())
        GiveTurn(turn, run, visit, visit.hosts[visit.cursor++]);
      if (visit.batch_left == 0) {
        EndBatch(turn, run, visit);
        if (visit.winding_up || (visit.batch_left > 0 && !IsPaused(run)))
          continue;  // there is another batch, or an end to make
      }
    }
    if (AllEnded(visit)) {
      if (run.restored) {
        // Batches were no longer judged one by one.
        visit.limit_passed =
            visit.counts.Failures() >
            run.SpecOf(visit).max_failures.Of(static_cast<std::uint32_t>(visit.slots.size()), 0);
      }
      TaskCounts counts = visit.counts;
      counts[TaskState::kSucceeded] += ThroughBefore(run, visit.record.stage);
      visit.ends_as = StageEnd(counts, visit.limit_passed, run.Stopping());
    }
    return;
  }
}

}  // namespace muster::engine
