#include <algorithm>
#include <utility>

#include "cron/local_text.hpp"
#include "engine/hosts/maintenance.hpp"
#include "engine/keeping/gates.hpp"
#include "engine/limiter/freezes.hpp"
#include "engine/notices/notices.hpp"
#include "engine/triggers/deciding.hpp"
#include "engine/triggers/holding.hpp"
#include "engine/triggers/judging.hpp"
#include "engine/triggers/looking.hpp"

// What comes back: plans for slots, and what runs say of themselves.
namespace muster::engine {
namespace {

constexpr std::uint32_t kMostRetries = 5;
constexpr Duration kFirstRetry = std::chrono::seconds(10);
constexpr std::size_t kMostData = 64;

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

std::optional<Obstacle> ObstacleOf(const Turn& turn, const SlotPlan& plan) {
  if (auto frozen = FrozenBy(turn, {.origin = Origin::kTrigger,
                                    .during_freeze = false,
                                    .job = plan.spec.job,
                                    .frozen = plan.frozen}))
    return Obstacle{why::kFrozen, frozen->reason};
  if (const Available hosts = LeaveOutMaintained(turn, plan.targets); hosts.targets->empty())
    return Obstacle{why::kLimit, "no host is left: " + hosts.left_out};
  return std::nullopt;
}

NewSlotRun MadeBy(const TriggerEntry& entry, const SlotPlan& plan) {
  return {.caller = {.request = {}, .name = ByTrigger(entry.trigger.spec.name), .address = {}},
          .plan = plan};
}

void FireScheduled(Turn& turn, TriggerEntry& entry, const FireSlot& command) {
  const Trigger& trigger = entry.trigger;
  if (trigger.paused || trigger.failed || trigger.complete || trigger.settling) return;
  if (entry.times->Next(trigger.mark) != command.slot) return;
  if (Judge(turn, entry, command.slot).kind != Verdict::Kind::kStart) return;
  if (!command.plan) return TakeError(turn, entry, command.slot, command.plan.error());
  if (const auto closed = ClosedGate(turn.state))
    return TryAgain(turn, entry, command.slot, why::kLimit, closed->reason);
  if (const auto obstacle = ObstacleOf(turn, *command.plan))
    return Skip(turn, entry, command.slot, obstacle->why, obstacle->detail);
  Start(turn, entry, command.slot, 0, MadeBy(entry, *command.plan));
}

// What a backfill cannot start is left out: it was a slot of the past, and ended long ago.
void FireBackfill(Turn& turn, TriggerEntry& entry, const FireSlot& command) {
  Trigger& trigger = entry.trigger;
  if (!trigger.backfill || trigger.backfill->act != command.act ||
      command.slot < trigger.backfill->next)
    return;
  if (OpenRunsOf(turn.state, trigger.spec.name).size() >= AllowedRuns(trigger.spec)) return;
  trigger.backfill->next = {command.slot.ms + 1};
  std::string problem;
  if (!command.plan)
    problem = command.plan.error().message;
  else if (const auto closed = ClosedGate(turn.state))
    problem = closed->reason;
  else if (const auto obstacle = ObstacleOf(turn, *command.plan))
    problem = obstacle->detail;
  Keep(turn, entry);
  if (problem.empty()) {
    NewSlotRun made = MadeBy(entry, *command.plan);
    made.reason = "backfill by " + trigger.backfill->by;
    Start(turn, entry, command.slot, command.act, std::move(made));
    return;
  }
  trigger.error = problem;
  turn.state.triggers.tally.Count(why::kError, 1);
  turn.Put(PutSlot{SlotRecord{.trigger = trigger.spec.name,
                              .first = command.slot,
                              .last = command.slot,
                              .act = command.act,
                              .count = 1,
                              .fate = SlotFate::kSkipped,
                              .why = std::string(why::kError),
                              .detail = problem,
                              .run = {},
                              .at = turn.now.wall,
                              .version = trigger.version,
                              .commit = turn.commit}});
}

// Everything that a run's stages wrote under `muster.`, the last word of each name.
std::map<std::string, std::string> SpokenBy(const OpenRun& open) {
  constexpr std::string_view kPrefix = "muster.";
  std::map<std::string, std::string> spoken;
  const auto take = [&](const Outputs& outputs) {
    for (const auto& [name, value] : outputs)
      if (name.starts_with(kPrefix)) spoken[name.substr(kPrefix.size())] = value;
  };
  for (const auto& stage : open.run.stages) {
    const auto reported = open.reported.find(stage.name);
    if (reported == open.reported.end()) continue;
    for (std::uint32_t ordinal = 0; ordinal < open.run.hosts; ++ordinal)
      if (const auto host = reported->second.hosts.find(ordinal);
          host != reported->second.hosts.end())
        take(host->second);
    take(reported->second.stage);
  }
  return spoken;
}

// "15m" from now, or a moment. Whole seconds, as slots are.
WallTime MomentOf(const std::string& text, WallTime now) {
  WallTime at;
  if (const auto moment = cron::ParseLocal(cron::Zone::Utc(), text))
    at = *moment;
  else if (const auto wait = ParseDuration(text))
    at = now + *wait;
  return at > now ? WallTime{(at.ms + 999) / 1000 * 1000} : WallTime{};
}

void Listen(Turn& turn, TriggerEntry& entry, const OpenRun& open) {
  Trigger& trigger = entry.trigger;
  constexpr std::string_view kData = "data.";
  for (const auto& [name, value] : SpokenBy(open)) {
    if (name.starts_with(kData)) {
      const std::string key = name.substr(kData.size());
      if (value.empty())
        trigger.data.erase(key);
      else if (trigger.data.size() < kMostData || trigger.data.contains(key))
        trigger.data[key] = value;
    } else if (name == "next") {
      const WallTime at = MomentOf(value, turn.now.wall);
      trigger.asked = at > trigger.mark ? at : WallTime{};
      if (entry.times) entry.times->Ask(trigger.asked);
    } else if (name == "status") {
      trigger.status = value;
      const bool complete = value == "complete";
      if (std::exchange(trigger.complete, complete) != complete)
        NoteSchedule(turn, entry, complete ? 0 : trigger.version,
                     complete ? "complete" : "not complete after all");
    } else {
      continue;
    }
    Keep(turn, entry);
  }
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
