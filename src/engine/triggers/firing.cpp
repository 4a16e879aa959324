#include <algorithm>
#include <utility>

#include "domain/plan_bytes.hpp"
#include "engine/hosts/maintenance.hpp"
#include "engine/keeping/gates.hpp"
#include "engine/limiter/freezes.hpp"
#include "engine/notices/notices.hpp"
#include "engine/triggers/due_slots.hpp"
#include "engine/triggers/in_memory.hpp"
#include "engine/triggers/run_reports.hpp"
#include "engine/triggers/slot_outcomes.hpp"
#include "engine/triggers/verdict.hpp"

// What comes back: plans for slots, and runs at their end.
namespace muster::engine {
namespace {

constexpr std::uint32_t kMostRetries = 5;
constexpr Duration kFirstRetry = std::chrono::seconds(10);

bool IsForGood(ErrorCode code) {
  return code == ErrorCode::kInvalid || code == ErrorCode::kNotFound || code == ErrorCode::kDenied;
}

// Passing troubles: the slot is tried again, ever more slowly.
void TryAgain(Turn& turn, TriggerEntry& entry, WallTime slot, std::string_view why,
              std::string message) {
  Trigger& trigger = entry.trigger;
  trigger.error = std::move(message);
  if (++trigger.errors_in_a_row > kMostRetries) {
    TellOfTrigger(turn, trigger.spec, why,
                  fmt::format("slot {} was skipped: {}", FormatTime(slot), trigger.error));
    return Skip(turn, entry, slot, why, trigger.error);
  }
  trigger.retry_at = turn.now.wall + kFirstRetry * (1 << (trigger.errors_in_a_row - 1));
  trigger.seen = std::max(trigger.seen, slot);
  Keep(turn, entry);
}

void TakeError(Turn& turn, TriggerEntry& entry, WallTime slot, const Error& error) {
  Trigger& trigger = entry.trigger;
  if (!IsForGood(error.code) && error.code != ErrorCode::kConflict)
    return TryAgain(turn, entry, slot, why::kError, error.message);
  Skip(turn, entry, slot, why::kError, error.message);
  trigger.error = error.message;
  trigger.failed = IsForGood(error.code);
  TellOfTrigger(turn, trigger.spec, why::kError,
                fmt::format("slot {} was skipped: {}{}", FormatTime(slot), error.message,
                            trigger.failed ? "; it starts nothing more until it is mended" : ""));
}

struct Obstacle {
  std::string_view why;
  std::string detail;
};

// Of a slot of the schedule, or of a backfill, which a person started.
std::optional<Obstacle> ObstacleOf(const Turn& turn, const SlotPlan& plan,
                                   const Backfill* backfill) {
  if (auto frozen = FrozenBy(turn, {.origin = backfill ? Origin::kPerson : Origin::kTrigger,
                                    .during_freeze = backfill && backfill->during_freeze,
                                    .advises = false,
                                    .plan = plan.spec,
                                    .frozen = plan.frozen}))
    return Obstacle{why::kFrozen, frozen->reason};
  if (const Available hosts = LeaveOutMaintained(turn, plan.targets); hosts.targets->empty())
    return Obstacle{why::kLimit, "no host is left: " + hosts.left_out};
  return std::nullopt;
}

// No person starts it, so it is caused by those who wrote what it does.
NewSlotRun MadeBy(const TriggerEntry& entry, const SlotPlan& plan) {
  std::vector<std::string> starters = plan.authors;
  starters.push_back(entry.trigger.by);
  return {.caller = {.request = {}, .name = ByTrigger(entry.trigger.spec.name), .address = {}},
          .plan = plan,
          .reason = {},
          .remark = {},
          .starters = std::move(starters)};
}

Result<> CheckPlan(const FireSlot& command) {
  if (!command.plan) return Fail(command.plan.error());
  return CheckPlanBytes(command.plan->spec);
}

void FireScheduled(Turn& turn, TriggerEntry& entry, const FireSlot& command) {
  const Trigger& trigger = entry.trigger;
  if (trigger.paused || trigger.failed || trigger.complete || trigger.settling) return;
  if (entry.times->Next(trigger.mark) != command.slot) return;
  if (Judge(turn, entry, command.slot).kind != Verdict::Kind::kStart) return;
  if (const auto good = CheckPlan(command); !good)
    return TakeError(turn, entry, command.slot, good.error());
  if (const auto closed = ClosedGate(turn.state))
    return TryAgain(turn, entry, command.slot, why::kLimit, closed->reason);
  if (const auto obstacle = ObstacleOf(turn, *command.plan, nullptr))
    return Skip(turn, entry, command.slot, obstacle->why, obstacle->detail);
  Start(turn, entry, command.slot, 0, MadeBy(entry, *command.plan));
}

std::optional<Obstacle> BackfillObstacle(const Turn& turn, const Backfill& backfill,
                                         const FireSlot& command) {
  if (const auto good = CheckPlan(command); !good)
    return Obstacle{why::kError, good.error().message};
  if (const auto closed = ClosedGate(turn.state)) return Obstacle{why::kLimit, closed->reason};
  return ObstacleOf(turn, *command.plan, &backfill);
}

// What a backfill cannot start is left out: it was a slot of the past, and ended long ago.
void FireBackfill(Turn& turn, TriggerEntry& entry, const FireSlot& command) {
  Trigger& trigger = entry.trigger;
  if (!trigger.backfill || trigger.backfill->act != command.act ||
      command.slot < trigger.backfill->next)
    return;
  if (OpenRunsOf(turn.state, trigger.spec.name).size() >= AllowedRuns(trigger.spec)) return;
  trigger.backfill->next = {command.slot.ms + 1};
  const auto obstacle = BackfillObstacle(turn, *trigger.backfill, command);
  Keep(turn, entry);
  if (!obstacle) {
    NewSlotRun made = MadeBy(entry, *command.plan);
    made.reason = "backfill by " + trigger.backfill->by;
    made.starters.push_back(trigger.backfill->by);
    Start(turn, entry, command.slot, command.act, std::move(made));
    return;
  }
  if (obstacle->why == why::kError) trigger.error = obstacle->detail;
  turn.state.triggers.tally.Count(obstacle->why, 1);
  turn.Put(PutSlot{SlotRecord{.trigger = trigger.spec.name,
                              .first = command.slot,
                              .last = command.slot,
                              .act = command.act,
                              .count = 1,
                              .fate = SlotFate::kSkipped,
                              .why = std::string(obstacle->why),
                              .detail = obstacle->detail,
                              .run = {},
                              .at = turn.now.wall,
                              .version = trigger.version,
                              .commit = turn.commit}});
}

}  // namespace

void Decide(Turn& turn, const FireSlot& command) {
  auto& memory = turn.state.triggers;
  const auto found = memory.entries.find(command.trigger);
  if (found == memory.entries.end()) return;
  TriggerEntry& entry = found->second;
  auto& asked = command.act == 0 ? entry.preparing : entry.backfilling;
  if (!asked || asked->slot != command.slot || asked->act != command.act) return;
  asked.reset();
  if (command.version == entry.trigger.version && entry.times && !entry.trigger.dropped) {
    if (command.act == 0)
      FireScheduled(turn, entry, command);
    else
      FireBackfill(turn, entry, command);
  }
  LookAt(turn, entry);
}

void OnTriggeredRunEnd(Turn& turn, const OpenRun& open) {
  const std::string& name = open.run.trigger;
  if (name.empty()) return;
  auto& memory = turn.state.triggers;
  if (const auto runs = memory.runs.find(name); runs != memory.runs.end()) {
    runs->second.erase(open.run.id);
    if (runs->second.empty()) memory.runs.erase(runs);
  }
  const auto found = memory.entries.find(name);
  if (found == memory.entries.end()) return;
  memory.touched.insert(name);
  // A retry is a person's; what it says is about the past.
  if (open.run.pass == 1 && !open.restored) Listen(turn, found->second, open);
  if (!IsIdle(found->second.trigger)) Arm(turn.state, found->second, turn.now.wall);
}

}  // namespace muster::engine
