#include "engine/runs/report.hpp"

#include <algorithm>

#include "engine/limiter/limiter.hpp"
#include "engine/runs/dispatch.hpp"
#include "engine/runs/ending.hpp"

namespace muster::engine {
namespace {

// Delay before a task that came too late is sent again: a node whose estimate of our clock is off
// must not be asked in a tight loop.
constexpr Duration kRetryStep{100};
constexpr Duration kRetryMost{1000};
constexpr std::uint32_t kFreshWaits = 10;

void TakeStarted(Turn& turn, const TaskKey& key) {
  const auto [run, visit, record] = FindAttempt(turn.state, key);
  if (run == nullptr || visit->At(key.ordinal).state != TaskState::kSent) return;
  MoveSlot(*run, *visit, key.ordinal, TaskState::kRunning);
  turn.Tell(
      TaskNews{.task = key, .state = TaskState::kRunning, .reason = {}, .commit = turn.commit});
  turn.TellRun(*run);
}

void FinishLog(Turn& turn, TaskRecord record, const LogMark& mark) {
  if (record.log.state == LogState::kOpen) turn.state.runs.CountClosedLog(record.key.run);
  record.log = mark;
  turn.Put(PutTask{record});
  turn.state.hosts.entries.at(record.key.host).output_over = turn.commit;
  turn.state.tasks.Unlinger(record.key);
}

// Returns true when the node may forget the task.
bool TakeEnded(Turn& turn, const TaskKey& key, const TaskEnd& end,
               const std::optional<LogMark>& mark) {
  if (const auto [run, visit, record] = FindAttempt(turn.state, key); run != nullptr) {
    if (end.state == TaskState::kSkipped) {
      TryAgain(turn, key, TaskEvent::kNotStarted, end.reason);
      return true;
    }
    EndAttempt(turn, *run, *visit, key.ordinal, EventOf(end), end, {}, mark);
    return !turn.state.tasks.lingering.contains(key);
  }
  const auto lingers = turn.state.tasks.lingering.find(key);
  if (lingers == turn.state.tasks.lingering.end())
    return true;  // its end is on record, and nothing is wanted of it
  return TakeLateEnd(turn, lingers->second, end, mark);
}

bool TakeLogEnded(Turn& turn, const TaskKey& key, const std::optional<LogMark>& mark) {
  const auto lingers = turn.state.tasks.lingering.find(key);
  if (lingers == turn.state.tasks.lingering.end())
    return FindAttempt(turn.state, key).run == nullptr;
  if (!mark) return false;
  FinishLog(turn, lingers->second, *mark);
  return true;
}

}  // namespace

void TryAgain(Turn& turn, const TaskKey& key, TaskEvent event, std::string reason) {
  const auto [run, visit, record] = FindAttempt(turn.state, key);
  if (run == nullptr) return;
  const bool stopped = visit->winding_up || record->stop_wished;
  Slot& slot = visit->At(key.ordinal);
  ReturnToQueue(turn, *run, *visit, key.ordinal, event, std::move(reason));
  if (slot.state != TaskState::kQueued) return;
  if (stopped) {
    EndUnsent(turn, *run, *visit, key.ordinal, TaskEvent::kStop, "stopped before it started");
    return;
  }
  // Late orders share one wait; an agent that died before it could start has done nothing wrong.
  if (event == TaskEvent::kNotStarted && slot.attempt < kFreshWaits)
    slot.wait_until = turn.now.mono + run->SpecOf(*visit).wait_offline;
  if (slot.wait_until <= turn.now.mono) {
    EndUnsent(turn, *run, *visit, key.ordinal, TaskEvent::kOfflineOver,
              "the host did not start it in time");
    return;
  }
  slot.retry_at = turn.now.mono + std::min(kRetryMost, kRetryStep * static_cast<int>(slot.attempt));
  turn.state.timers.push({.at = slot.retry_at, .due = RetryDue{{key.run, key.visit, key.ordinal}}});
  ArmWait(turn, *run, *visit, key.ordinal);
}

OpenAttempt FindAttempt(State& state, const TaskKey& key) {
  const auto run = state.runs.open.find(key.run);
  if (run == state.runs.open.end()) return {};
  const auto visit = run->second.visits.find(key.visit);
  if (visit == run->second.visits.end()) return {};
  const auto attempt = visit->second.attempts.find(key.ordinal);
  if (attempt == visit->second.attempts.end() || attempt->second.key != key) return {};
  return {&run->second, &visit->second, &attempt->second};
}

bool TakeLateEnd(Turn& turn, TaskRecord record, const TaskEnd& end,
                 const std::optional<LogMark>& mark) {
  if (end.state != TaskState::kLost) OnLostEnded(turn, record.key);
  ForgetWish(turn, record.key);
  if (record.state == TaskState::kLost && !record.late) {
    record.late = end;
    record.late->log.reset();
    if (end.state != TaskState::kLost && record.reason.ends_with(kMayStillRun))
      record.reason.resize(record.reason.size() - kMayStillRun.size());
    turn.Put(PutTask{record});
  }
  const bool wanted = record.log.state == LogState::kOpen || record.log.state == LogState::kGap;
  if (!wanted) {
    turn.state.tasks.Unlinger(record.key);
    return true;
  }
  if (mark) {
    FinishLog(turn, std::move(record), *mark);
    return true;
  }
  turn.state.tasks.Linger(std::move(record));
  return false;
}

void Decide(Turn& turn, const NodeReports& command) {
  const auto host_id = turn.state.hosts.by_link.find(command.link);
  if (host_id == turn.state.hosts.by_link.end()) return;
  const HostEntry& host = turn.state.hosts.entries.at(host_id->second);
  if (host.link != command.link || host.host.session != command.session) return;
  for (const auto& [report, mark] : command.reports) {
    if (report.task.host != host.host.id) continue;
    bool forget = false;
    switch (report.kind) {
      case link::ReportKind::kStarted:
        TakeStarted(turn, report.task);
        break;
      case link::ReportKind::kRefusedLate:
        TryAgain(turn, report.task, TaskEvent::kRefusedLate,
                 "the order reached the host too late; it was not started");
        break;
      case link::ReportKind::kEnded:
        if (report.end) forget = TakeEnded(turn, report.task, *report.end, mark);
        break;
      case link::ReportKind::kLogEnded:
        forget = TakeLogEnded(turn, report.task, mark);
        break;
    }
    if (forget) turn.FrameFor(command.link).forgets.push_back(report.task);
  }
}

}  // namespace muster::engine
