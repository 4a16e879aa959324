#include "engine/hosts/hello_tasks.hpp"

#include <algorithm>

#include "engine/hosts/presence.hpp"
#include "engine/hosts/unrecorded_tasks.hpp"
#include "engine/limiter/limiter.hpp"
#include "engine/runs/dispatch.hpp"
#include "engine/runs/ending.hpp"
#include "engine/runs/render.hpp"
#include "engine/runs/report.hpp"
#include "link/judge.hpp"

namespace muster::engine {
namespace {

using link::Verb;

// A listed task the engine holds open.
link::TaskAnswer AnswerOpen(Turn& turn, const OpenAttempt& open, const link::HeldTask& held,
                            std::uint64_t durable) {
  const auto& [run_found, visit_found, record] = open;
  OpenRun& run = *run_found;
  OpenVisit& visit = *visit_found;
  const muster::Command& command = *SharedCommandOf(run.SpecOf(visit));
  link::TaskAnswer answer{.task = held.task,
                          .verb = Verb::kGoOn,
                          .durable_offset = durable,
                          .max_output = command.max_output};
  if (held.state == link::HeldState::kEnded && held.end) {
    if (held.end->state == TaskState::kSkipped) {
      TryAgain(turn, held.task, TaskEvent::kNotStarted, held.end->reason);
      answer.verb = Verb::kForget;
      return answer;
    }
    EndAttempt(turn, run, visit, held.task.ordinal, EventOf(*held.end), held.end, {}, std::nullopt);
    if (!turn.state.tasks.lingering.contains(held.task)) answer.verb = Verb::kForget;
    return answer;
  }
  if (visit.At(held.task.ordinal).state == TaskState::kSent) {
    MoveSlot(run, visit, held.task.ordinal, TaskState::kRunning);
    turn.Tell(TaskNews{
        .task = held.task, .state = TaskState::kRunning, .reason = {}, .commit = turn.commit});
    turn.TellRun(run);
  }
  if (run.run.stop || record->stop_wished) {
    answer.verb = Verb::kKill;
    answer.grace = run.run.stop ? run.run.stop->grace : command.grace;
    ArmDeadline(turn, run, visit, held.task.ordinal, KillBound(turn.state.options, answer.grace));
  } else {
    ArmDeadline(turn, run, visit, held.task.ordinal, AttemptBound(turn.state.options, command));
  }
  return answer;
}

// The store came from a backup and knows the run, but not that this attempt of it was sent: the
// host's word stands for the row that was lost. An attempt before it surely did not run, or this
// one would never have been sent.
void Adopt(Turn& turn, HostEntry& entry, const link::Hello& hello, const TaskKey& key) {
  const auto found = turn.state.runs.open.find(key.run);
  if (found == turn.state.runs.open.end()) return;
  OpenRun& run = found->second;
  const auto at = run.visits.find(key.visit);
  if (!run.restored || at == run.visits.end() || !at->second.Has(key.ordinal) ||
      (*run.targets)[key.ordinal].host != key.host)
    return;
  OpenVisit& visit = at->second;
  Slot& slot = visit.At(key.ordinal);
  if (IsFinal(slot.state) || key.attempt.value <= slot.attempt) return;
  // Where a failed attempt is followed by another, the one before it may have run.
  if (slot.state != TaskState::kQueued && run.SpecOf(visit).retries.max > 0) return;
  if (slot.state != TaskState::kQueued)
    ReturnToQueue(turn, run, visit, key.ordinal, TaskEvent::kRefusedLate,
                  "the host never started this attempt");
  if (slot.state != TaskState::kQueued) return;
  slot.attempt = key.attempt.value;
  TaskRecord record;
  record.key = key;
  record.sent = turn.now.wall;
  record.store = hello.store;
  record.boot = hello.boot;
  record.sent_commit = turn.commit;
  record.sent_term = turn.state.term;
  turn.Put(PutTask{record});
  MoveSlot(run, visit, key.ordinal, TaskState::kSent);
  run.hosts[key.ordinal].touched = true;
  entry.queued.erase({key.run, key.visit, key.ordinal});
  entry.open.insert({key.run, key.visit, key.ordinal});
  visit.attempts[key.ordinal] = std::move(record);
  turn.TellRun(run);
}

// A listed task whose record has ended, or is not there at all.
link::TaskAnswer AnswerEnded(Turn& turn, const HostEntry& entry, const link::HeldTask& held,
                             const TaskRecord* record, const NodeHello::Looked& looked) {
  link::TaskAnswer answer{
      .task = held.task, .verb = Verb::kGoOn, .durable_offset = looked.durable_log};
  const bool node_ended = held.state == link::HeldState::kEnded && held.end;
  const StopWish* stop = node_ended ? nullptr : StopOver(turn.state, held.task, looked);
  if (stop != nullptr) {
    answer.verb = Verb::kKill;
    answer.grace = stop->grace;
  }
  if (record == nullptr) {
    const bool lost_by_restore = turn.state.FromBackup(held.task.run);
    if (node_ended)
      answer.verb = Verb::kForget;
    else if (lost_by_restore)
      TellStranger(turn, entry, held.task, stop != nullptr);
    else
      answer.verb = Verb::kKill;
    return answer;
  }
  if (node_ended) {
    if (TakeLateEnd(turn, *record, *held.end, std::nullopt)) answer.verb = Verb::kForget;
    return answer;
  }
  turn.state.tasks.Linger(*record);
  const auto wishes = turn.state.tasks.wishes.find(held.task.host);
  if (wishes == turn.state.tasks.wishes.end()) return answer;
  if (const auto wish = wishes->second.find(held.task); wish != wishes->second.end()) {
    answer.verb = Verb::kKill;
    answer.grace = wish->second.grace;
  }
  return answer;
}

// A task that restarts its host is done when the host is back.
bool IsBack(const OpenRun& run, const OpenVisit& visit, const TaskRecord& record,
            const link::Hello& hello) {
  const muster::Command* command = CommandOf(run.SpecOf(visit));
  return command != nullptr && command->reboot && record.store == hello.store &&
         record.boot != hello.boot;
}

void SendAgain(Turn& turn, OpenRun& run, OpenVisit& visit, const TaskRecord& record,
               const HostEntry& entry) {
  // A host's Hello is answered in one turn, so orders that cost much to make again are queued.
  if (!visit.command && turn.Spent())
    return ReturnToQueue(turn, run, visit, record.key.ordinal, TaskEvent::kRefusedLate,
                         "the host never got the order");
  const auto command = visit.command ? Result<HostAction>(visit.command)
                                     : RenderFor(turn, run, visit, record.key.ordinal);
  if (command) return SendOrder(turn, run, visit, record, entry, *command);
  ReturnToQueue(turn, run, visit, record.key.ordinal, TaskEvent::kRefusedLate,
                "the host never got the order");
  EndUnsent(turn, run, visit, record.key.ordinal, TaskEvent::kRefusedForGood,
            command.error().message);
}

// Attempts the engine holds open and Hello does not list.
void SettleUnlisted(Turn& turn, HostEntry& entry, const link::Hello& hello,
                    const std::set<TaskKey>& listed, bool taken_back) {
  const auto open = entry.open;  // the loop changes the original
  for (const TaskPlace& place : open) {
    OpenRun& run = turn.state.runs.open.at(place.run);
    OpenVisit& visit = run.visits.at(place.visit);
    const std::uint32_t ordinal = place.ordinal;
    const TaskRecord& record = visit.attempts.at(ordinal);
    if (listed.contains(record.key)) continue;
    if (run.restored) {
      // It may have run and been forgotten after the backup: sent again, it would run twice.
      LoseAttempt(turn, run, visit, ordinal,
                  "the server was restored from a backup, and the host no longer knows this task");
      continue;
    }
    if (taken_back) {
      visit.attempts.at(ordinal).doubted = true;
      LoseAttempt(
          turn, run, visit, ordinal,
          "two agents had the host's key, and the one that is left does not know this task");
      continue;
    }
    const bool never_started =
        visit.At(ordinal).state == TaskState::kSent &&
        link::JudgeUnlisted(record.store, record.boot, hello) == link::UnlistedVerdict::kSendAgain;
    if (IsBack(run, visit, record, hello)) {
      TaskEnd end;
      end.state = TaskState::kSucceeded;
      end.reason = "the host is back after a restart";
      EndAttempt(turn, run, visit, ordinal, TaskEvent::kExitZero, end, {}, SilentLog());
    } else if (!never_started) {
      LoseAttempt(turn, run, visit, ordinal,
                  record.store == hello.store ? "the host rebooted or forgot the task"
                                              : "the host came back with another data folder");
    } else if (visit.winding_up || record.stop_wished) {
      ReturnToQueue(turn, run, visit, ordinal, TaskEvent::kRefusedLate,
                    "the host never got the order");
      EndUnsent(turn, run, visit, ordinal, TaskEvent::kStop,
                "stopped before the host got the order");
    } else if (run.run.pause) {
      ReturnToQueue(turn, run, visit, ordinal, TaskEvent::kRefusedLate,
                    "the host never got the order");
    } else if (visit.At(ordinal).wait_until <= turn.now.mono) {
      const TaskKey key = record.key;
      TryAgain(turn, key, TaskEvent::kRefusedLate, "the host never got the order");
    } else {
      SendAgain(turn, run, visit, record, entry);
    }
  }
}

// Unsent tasks of restored runs that Hello does not list.
void SettleUnsure(Turn& turn, HostEntry& entry) {
  const auto queued = entry.queued;  // the loop changes the original
  for (const TaskPlace& place : queued) {
    OpenRun& run = turn.state.runs.open.at(place.run);
    if (!run.restored) continue;
    LoseUnsent(turn, run, run.visits.at(place.visit), place.ordinal,
               "the server was restored from a backup; whether it was sent after that, and ran, is "
               "unknown");
  }
}

// The answer may be lost on its way: what still runs is told of its stop once more next time.
std::set<TaskKey> RunningIn(const link::Hello& hello) {
  std::set<TaskKey> running;
  for (const auto& held : hello.tasks)
    if (held.state != link::HeldState::kEnded) running.insert(held.task);
  return running;
}

// Of a task whose output was still to come when it was looked up, and may be proven by now.
bool OutputMayBeOver(const State& state, const HostEntry& entry, const TaskRecord& record,
                     CommitNumber looked_at) {
  const bool awaited = record.log.state == LogState::kOpen || record.log.state == LogState::kGap;
  return awaited && !state.tasks.lingering.contains(record.key) &&
         looked_at < std::max(entry.output_over, state.loaded_at);
}

}  // namespace

ListedTasks AnswerListed(Turn& turn, HostEntry& entry, const NodeHello& command) {
  ListedTasks listed;
  for (std::size_t i = 0; i < command.hello.tasks.size(); ++i) {
    const auto& held = command.hello.tasks[i];
    if (held.task.host != entry.host.id) continue;
    // What was looked up is true of the first mention alone: that may have ended the task.
    if (!listed.tasks.insert(held.task).second) continue;
    const auto& looked = command.looked[i];
    Adopt(turn, entry, command.hello, held.task);
    if (const auto open = FindAttempt(turn.state, held.task); open.run != nullptr) {
      listed.answers.push_back(AnswerOpen(turn, open, held, looked.durable_log));
    } else if (const auto lingers = turn.state.tasks.lingering.find(held.task);
               lingers != turn.state.tasks.lingering.end()) {
      const TaskRecord record_copy = lingers->second;
      listed.answers.push_back(AnswerEnded(turn, entry, held, &record_copy, looked));
    } else {
      listed.answers.push_back(
          AnswerEnded(turn, entry, held, looked.record ? &*looked.record : nullptr, looked));
    }
  }
  return listed;
}

void SettleOthers(Turn& turn, HostEntry& entry, const link::Hello& hello,
                  const std::set<TaskKey>& listed, bool taken_back) {
  SettleUnlisted(turn, entry, hello, listed, taken_back);
  SettleLost(turn, entry.host.id, listed);
  SettleUnsure(turn, entry);
  GiveUpOutputs(turn, entry.host.id, listed);
  DropWishes(turn, entry.host.id, RunningIn(hello));
}

bool LookedTooEarly(State& state, const HostEntry& entry, const NodeHello& command) {
  for (std::size_t i = 0; i < command.hello.tasks.size(); ++i) {
    const auto& key = command.hello.tasks[i].task;
    const auto& record = command.looked[i].record;
    if (record && !IsFinal(record->state) && FindAttempt(state, key).run == nullptr &&
        !state.tasks.lingering.contains(key))
      return true;
    if (record && IsFinal(record->state) &&
        OutputMayBeOver(state, entry, *record, command.looked_at))
      return true;
    if (RunLookedTooEarly(state, key, command.looked[i])) return true;
  }
  return false;
}

}  // namespace muster::engine
