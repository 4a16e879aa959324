#include "engine/runs/ending.hpp"

#include <utility>

namespace muster::engine {
namespace {

const LogMark kSilent{.state = LogState::kComplete,
                      .bytes = 0,
                      .stdout_sha256 = kEmptySha256,
                      .stderr_sha256 = kEmptySha256};

void CountEnd(OpenRun& run, std::uint32_t ordinal, TaskState state) {
  if (ordinal < run.batch_begin || ordinal >= run.batch_end) return;
  --run.batch_left;
  if (CountsAsFailure(state)) ++run.batch_failures;
}

void Finish(Turn& turn, OpenRun& run, std::uint32_t ordinal, const TaskRecord& record) {
  Slot& slot = run.slots[ordinal];
  run.counts.Move(slot.state, record.state);
  slot.state = record.state;
  CountEnd(run, ordinal, record.state);
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

LogMark MarkOf(const TaskRecord& record, std::optional<LogMark> mark) {
  if (mark) return std::move(*mark);
  if (record.state == TaskState::kLost)
    return {.state = LogState::kGap, .bytes = 0, .stdout_sha256 = {}, .stderr_sha256 = {}};
  if (VerdictOf(record.state) == Verdict::kDidNotRun) return kSilent;
  return {};
}

}  // namespace

void EndAttempt(Turn& turn, OpenRun& run, std::uint32_t ordinal, TaskEvent event,
                std::optional<TaskEnd> end, std::string reason, std::optional<LogMark> mark) {
  const auto found = run.attempts.find(ordinal);
  if (found == run.attempts.end()) return;
  const auto next = Next(run.slots[ordinal].state, event);
  if (!next) return;
  TaskRecord record = std::move(found->second);
  run.attempts.erase(found);
  record.state = *next;
  record.ended = turn.now.wall;
  record.end = std::move(end);
  if (record.end) record.end->log.reset();
  record.reason = std::move(reason);
  record.log = MarkOf(record, std::move(mark));
  record.ended_commit = turn.commit;
  record.ended_term = turn.state.term;
  turn.state.hosts.at(record.key.host).open.erase({run.run.id, ordinal});
  turn.Put(PutTask{record});
  Finish(turn, run, ordinal, record);
  if (record.log.state == LogState::kOpen) {
    turn.state.CountOpenLog(run.run.id);
    turn.state.Linger(std::move(record));
  }
}

void LoseAttempt(Turn& turn, OpenRun& run, std::uint32_t ordinal, std::string reason) {
  const auto found = run.attempts.find(ordinal);
  if (found == run.attempts.end()) return;
  const TaskKey key = found->second.key;
  const bool wished = run.run.stop.has_value() || found->second.stop_wished;
  EndAttempt(turn, run, ordinal, TaskEvent::kGone, std::nullopt, std::move(reason), std::nullopt);
  if (!wished) return;
  const StopWish wish = run.run.stop.value_or(
      StopWish{.by = {}, .at = turn.now.wall, .reason = "stopped on this host"});
  turn.state.wishes[key.host][key] = wish;
  turn.Put(PutWish{OpenWish{key, wish}});
}

void EndUnsent(Turn& turn, OpenRun& run, std::uint32_t ordinal, TaskEvent event,
               std::string reason) {
  Slot& slot = run.slots[ordinal];
  const auto next = Next(slot.state, event);
  if (!next) return;
  const HostId host = (*run.targets)[ordinal].host;
  TaskRecord record;
  record.key = {run.run.id, run.CurrentStage().visit, ordinal, host, Attempt(++slot.attempt)};
  record.state = *next;
  record.ended = turn.now.wall;
  record.reason = std::move(reason);
  record.log = MarkOf(record, std::nullopt);
  record.sent_commit = record.ended_commit = turn.commit;
  record.sent_term = record.ended_term = turn.state.term;
  if (const auto entry = turn.state.hosts.find(host); entry != turn.state.hosts.end())
    entry->second.queued.erase({run.run.id, ordinal});
  turn.Put(PutTask{record});
  Finish(turn, run, ordinal, record);
}

void LoseUnsent(Turn& turn, OpenRun& run, std::uint32_t ordinal, std::string reason) {
  EndUnsent(turn, run, ordinal, TaskEvent::kUnsure, std::move(reason));
  if (!run.run.stop) return;
  const TaskKey key{run.run.id, run.CurrentStage().visit, ordinal, (*run.targets)[ordinal].host,
                    Attempt(run.slots[ordinal].attempt)};
  turn.state.wishes[key.host][key] = *run.run.stop;
  turn.Put(PutWish{OpenWish{key, *run.run.stop}});
}

void GiveUpOutputs(Turn& turn, HostId host, const std::set<TaskKey>& except) {
  State& state = turn.state;
  const auto found = state.lingering_by_host.find(host);
  if (found == state.lingering_by_host.end()) return;
  const auto keys = found->second;  // the loop changes the original
  for (const TaskKey& key : keys) {
    if (except.contains(key)) continue;
    TaskRecord& record = state.lingering.at(key);
    if (record.log.state == LogState::kOpen) {
      record.log.state = LogState::kGap;
      turn.Put(PutTask{record});
      state.CountClosedLog(key.run);
    }
    state.Unlinger(key);
  }
}

void ReturnToQueue(Turn& turn, OpenRun& run, std::uint32_t ordinal, TaskEvent event,
                   std::string reason) {
  const auto found = run.attempts.find(ordinal);
  if (found == run.attempts.end()) return;
  Slot& slot = run.slots[ordinal];
  const auto next = Next(slot.state, event);
  if (!next) return;
  TaskRecord record = std::move(found->second);
  run.attempts.erase(found);
  // The attempt is over; a row that was sent and is `unreachable` tells a load that its task is
  // not.
  record.state = TaskState::kUnreachable;
  record.ended = turn.now.wall;
  record.reason = std::move(reason);
  record.log = kSilent;
  record.ended_commit = turn.commit;
  record.ended_term = turn.state.term;
  turn.Put(PutTask{record});
  run.counts.Move(slot.state, *next);
  slot.state = *next;
  HostEntry& host = turn.state.hosts.at(record.key.host);
  host.open.erase({run.run.id, ordinal});
  host.queued.insert({run.run.id, ordinal});
  turn.Tell(TaskNews{.task = record.key, .state = slot.state, .reason = {}, .commit = turn.commit});
  turn.TellRun(run);
  turn.Wake(run);
}

}  // namespace muster::engine
