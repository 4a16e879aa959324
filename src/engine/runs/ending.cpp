#include "engine/runs/ending.hpp"

#include <utility>

#include "engine/limiter/limiter.hpp"
#include "engine/runs/dispatch.hpp"

namespace muster::engine {
namespace {

void CountEnd(const OpenRun& run, OpenVisit& visit, std::uint32_t ordinal, TaskState state) {
  const std::uint32_t place = visit.PlaceOf(ordinal);
  if (place < visit.record.batch_begin || place >= visit.record.batch_end) return;
  --visit.batch_left;
  CountInBatch(run, visit, state);
}

// An attempt of the host is over.
void KeepEnded(OpenRun& run, const OpenVisit& visit, std::uint32_t ordinal, TaskState state) {
  HostTasks<>& ended = run.hosts[ordinal].ended;
  ended.Take(HostTasks<>::Of(visit.record, Attempt(visit.At(ordinal).attempt), state));
  ended.Prune();
}

// What a task said of itself is there for later stages from the commit of its end on; of several
// attempts what the last one said, as the rows have it.
void TakeOutputs(OpenRun& run, const OpenVisit& visit, const TaskRecord& record) {
  if (record.end && !record.end->outputs.empty()) {
    run.reported[visit.record.name].hosts[record.key.ordinal] = record.end->outputs;
  } else if (const auto found = run.reported.find(visit.record.name); found != run.reported.end()) {
    found->second.hosts.erase(record.key.ordinal);
  }
}

void TellEnd(Turn& turn, OpenRun& run, const TaskRecord& record) {
  const TaskEnd* end = record.end ? &*record.end : nullptr;
  turn.Tell(TaskNews{.task = record.key,
                     .state = record.state,
                     .exit_code = end ? end->exit_code : 0,
                     .signal = end ? end->signal : 0,
                     .reason = end && !end->reason.empty() ? end->reason : record.reason,
                     .commit = turn.commit});
  turn.TellRun(run);
  turn.Wake(run);
}

void Finish(Turn& turn, OpenRun& run, OpenVisit& visit, const TaskRecord& record) {
  MoveSlot(run, visit, record.key.ordinal, record.state);
  CountEnd(run, visit, record.key.ordinal, record.state);
  TakeOutputs(run, visit, record);
  TellEnd(turn, run, record);
}

// The attempt is over and on record; its task waits for the next.
void FollowUp(Turn& turn, OpenRun& run, OpenVisit& visit, const TaskRecord& record) {
  const std::uint32_t ordinal = record.key.ordinal;
  Slot& slot = visit.At(ordinal);
  const TaskPlace place{run.run.id, visit.record.visit, ordinal};
  ++slot.retries;
  TakeOutputs(run, visit, record);
  KeepEnded(run, visit, ordinal, record.state);
  MoveSlot(run, visit, ordinal, TaskState::kQueued);
  slot.retry_at = turn.now.mono + run.SpecOf(visit).retries.backoff;
  slot.wait_until = slot.retry_at + run.SpecOf(visit).wait_offline;
  turn.state.hosts.entries.at(record.key.host).queued.insert(place);
  turn.state.timers.push({.at = slot.retry_at, .due = RetryDue{place}});
  turn.state.timers.push({.at = slot.wait_until, .due = WaitOver{place}});
  TellEnd(turn, run, record);
}

// How long a lost attempt may still run, by its own timeout, if it began only now: neither clocks
// nor another leader make that shorter.
Duration SurelyOver(const Turn& turn, const OpenRun& run, const OpenVisit& visit) {
  const muster::Command& command = *SharedCommandOf(run.SpecOf(visit));
  if (command.timeout == Duration::zero()) return Duration::max();
  return command.timeout + command.grace + turn.state.options.order_life;
}

LogMark MarkOf(const TaskRecord& record, std::optional<LogMark> mark) {
  if (mark) return std::move(*mark);
  if (record.state == TaskState::kLost)
    return {.state = LogState::kGap, .bytes = 0, .stdout_sha256 = {}, .stderr_sha256 = {}};
  if (VerdictOf(record.state) == Verdict::kDidNotRun) return SilentLog();
  return {};
}

}  // namespace

LogMark SilentLog() {
  return {.state = LogState::kComplete,
          .bytes = 0,
          .stdout_sha256 = kEmptySha256,
          .stderr_sha256 = kEmptySha256};
}

void MoveSlot(OpenRun& run, OpenVisit& visit, std::uint32_t ordinal, TaskState state) {
  Slot& slot = visit.At(ordinal);
  visit.counts.Move(slot.state, state);
  slot.state = state;
  if (IsFinal(state)) KeepEnded(run, visit, ordinal, state);
  run.hosts[ordinal].Move(visit.record.visit, state);
  CountHost(run, ordinal);
}

void CountHost(OpenRun& run, std::uint32_t ordinal) {
  HostFlow& host = run.hosts[ordinal];
  const TaskState stands = host.Stands();
  run.counts.Move(host.shown, stands);
  host.shown = stands;
}

bool MayRetry(const OpenRun& run, const OpenVisit& visit, const Slot& slot,
              const TaskRecord& ended) {
  const StageSpec& spec = run.SpecOf(visit);
  const bool failed = ended.state == TaskState::kFailed || ended.state == TaskState::kTimedOut;
  const bool again = failed || (ended.state == TaskState::kLost && spec.repeat == Repeat::kSafe);
  return again && slot.retries < spec.retries.max && !visit.winding_up && !ended.stop_wished &&
         !run.Stopping() && !run.restored;
}

void EndAttempt(Turn& turn, OpenRun& run, OpenVisit& visit, std::uint32_t ordinal, TaskEvent event,
                std::optional<TaskEnd> end, std::string reason, std::optional<LogMark> mark) {
  const auto found = visit.attempts.find(ordinal);
  if (found == visit.attempts.end()) return;
  const auto next = Next(visit.At(ordinal).state, event);
  if (!next) return;
  TaskRecord record = std::move(found->second);
  visit.attempts.erase(found);
  record.state = *next;
  record.ended = turn.now.wall;
  record.end = std::move(end);
  if (record.end) record.end->log.reset();
  record.reason = std::move(reason);
  record.log = MarkOf(record, std::move(mark));
  record.ended_commit = turn.commit;
  record.ended_term = turn.state.term;
  turn.state.hosts.entries.at(record.key.host).Close({run.run.id, visit.record.visit, ordinal});
  if (record.state == TaskState::kLost) record.surely_over = SurelyOver(turn, run, visit);
  turn.Put(PutTask{record});
  if (record.state == TaskState::kLost)
    KeepLost(turn, run, record.key, {record.surely_over, record.doubted});
  else
    ReleaseKeys(turn, record.key);
  if (MayRetry(run, visit, visit.At(ordinal), record))
    FollowUp(turn, run, visit, record);
  else
    Finish(turn, run, visit, record);
  if (record.log.state == LogState::kOpen) {
    turn.state.runs.CountOpenLog(run.run.id);
    turn.state.tasks.Linger(std::move(record));
  }
}

void LoseAttempt(Turn& turn, OpenRun& run, OpenVisit& visit, std::uint32_t ordinal,
                 std::string reason) {
  const auto found = visit.attempts.find(ordinal);
  if (found == visit.attempts.end()) return;
  const TaskKey key = found->second.key;
  const bool wished = run.run.stop.has_value() || found->second.stop_wished;
  EndAttempt(turn, run, visit, ordinal, TaskEvent::kGone, std::nullopt, std::move(reason),
             std::nullopt);
  if (!wished) return;
  const StopWish wish = run.run.stop.value_or(
      StopWish{.by = {}, .at = turn.now.wall, .reason = "stopped on this host"});
  turn.state.tasks.wishes[key.host][key] = wish;
  turn.Put(PutWish{OpenWish{key, wish}});
}

void EndUnsent(Turn& turn, OpenRun& run, OpenVisit& visit, std::uint32_t ordinal, TaskEvent event,
               std::string reason) {
  Slot& slot = visit.At(ordinal);
  const auto next = Next(slot.state, event);
  if (!next) return;
  const HostId host = (*run.targets)[ordinal].host;
  TaskRecord record;
  record.key = {run.run.id, visit.record.visit, ordinal, host, Attempt(++slot.attempt)};
  record.state = *next;
  record.ended = turn.now.wall;
  record.reason = std::move(reason);
  record.log = MarkOf(record, std::nullopt);
  record.sent_commit = record.ended_commit = turn.commit;
  record.sent_term = record.ended_term = turn.state.term;
  const TaskPlace place{run.run.id, visit.record.visit, ordinal};
  StopWaiting(turn, place);
  if (const auto entry = turn.state.hosts.entries.find(host);
      entry != turn.state.hosts.entries.end())
    entry->second.queued.erase(place);
  turn.Put(PutTask{record});
  Finish(turn, run, visit, record);
}

void LoseUnsent(Turn& turn, OpenRun& run, OpenVisit& visit, std::uint32_t ordinal,
                std::string reason) {
  EndUnsent(turn, run, visit, ordinal, TaskEvent::kUnsure, std::move(reason));
  if (!run.run.stop) return;
  const TaskKey key{run.run.id, visit.record.visit, ordinal, (*run.targets)[ordinal].host,
                    Attempt(visit.At(ordinal).attempt)};
  turn.state.tasks.wishes[key.host][key] = *run.run.stop;
  turn.Put(PutWish{OpenWish{key, *run.run.stop}});
}

void ForgetWish(Turn& turn, const TaskKey& task) {
  const auto wishes = turn.state.tasks.wishes.find(task.host);
  if (wishes == turn.state.tasks.wishes.end() || wishes->second.erase(task) == 0) return;
  if (wishes->second.empty()) turn.state.tasks.wishes.erase(wishes);
  turn.Put(DropWish{task});
}

void GiveUpOutputs(Turn& turn, HostId host, const std::set<TaskKey>& except) {
  State& state = turn.state;
  const auto found = state.tasks.lingering_by_host.find(host);
  if (found == state.tasks.lingering_by_host.end()) return;
  const auto keys = found->second;  // the loop changes the original
  for (const TaskKey& key : keys) {
    if (except.contains(key)) continue;
    TaskRecord& record = state.tasks.lingering.at(key);
    if (record.log.state == LogState::kOpen) {
      record.log.state = LogState::kGap;
      turn.Put(PutTask{record});
      state.hosts.entries.at(host).output_over = turn.commit;
      state.runs.CountClosedLog(key.run);
    }
    state.tasks.Unlinger(key);
  }
}

void ReturnToQueue(Turn& turn, OpenRun& run, OpenVisit& visit, std::uint32_t ordinal,
                   TaskEvent event, std::string reason) {
  const auto found = visit.attempts.find(ordinal);
  if (found == visit.attempts.end()) return;
  const auto next = Next(visit.At(ordinal).state, event);
  if (!next) return;
  TaskRecord record = std::move(found->second);
  visit.attempts.erase(found);
  // The attempt is over; a row that was sent and is `unreachable` tells a load that its task is
  // not.
  record.state = TaskState::kUnreachable;
  record.ended = turn.now.wall;
  record.reason = std::move(reason);
  record.log = SilentLog();
  record.ended_commit = turn.commit;
  record.ended_term = turn.state.term;
  turn.Put(PutTask{record});
  ReleaseKeys(turn, record.key);
  TakeOutputs(run, visit, record);
  KeepEnded(run, visit, ordinal, record.state);
  MoveSlot(run, visit, ordinal, *next);
  HostEntry& host = turn.state.hosts.entries.at(record.key.host);
  const TaskPlace place{run.run.id, visit.record.visit, ordinal};
  host.Close(place);
  host.queued.insert(place);
  turn.Tell(TaskNews{.task = record.key, .state = *next, .reason = {}, .commit = turn.commit});
  turn.TellRun(run);
  turn.Wake(run);
}

}  // namespace muster::engine
