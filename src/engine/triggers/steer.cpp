#include "engine/triggers/steer.hpp"

#include <algorithm>

#include "domain/plan_bytes.hpp"
#include "engine/hosts/maintenance.hpp"
#include "engine/keeping/gates.hpp"
#include "engine/keys.hpp"
#include "engine/limiter/freezes.hpp"
#include "engine/triggers/due_slots.hpp"
#include "engine/triggers/in_memory.hpp"
#include "engine/triggers/slot_outcomes.hpp"
#include "engine/triggers/verdict.hpp"

namespace muster::engine {
namespace {

constexpr std::size_t kMostSkips = 1000;
constexpr std::uint32_t kMostBackfilled = 10'000;

void AuditAct(Turn& turn, const Caller& caller, std::string_view act, const std::string& name,
              std::string detail, const std::string& reason) {
  AuditEntry entry;
  entry.act = fmt::format("trigger.{}", act);
  entry.object = "trigger " + name;
  entry.detail = std::move(detail);
  entry.reason = reason;
  turn.Audit(caller, std::move(entry));
}

template <typename C>
void AnswerWith(Turn& turn, const C& command, const TriggerEntry& entry) {
  const Trigger& trigger = entry.trigger;
  TriggerAnswer answer{trigger,
                       StateOf(trigger, !OpenRunsOf(turn.state, trigger.spec.name).empty())};
  const auto next = entry.times ? entry.times->Next(trigger.mark) : std::nullopt;
  answer.trigger.next = next.value_or(WallTime{});
  turn.Answer(command, std::move(answer));
}

// Holds the trigger, or answers why not.
template <typename Request>
TriggerEntry* HoldFor(Turn& turn, const Request& command) {
  auto held = Hold(turn, command.name, command.known);
  if (held) return *held;
  turn.Answer(command, Fail(held.error()));
  return nullptr;
}

// Slots that came due while it stood still.
void SettlePast(Turn& turn, TriggerEntry& entry, std::string_view why, std::string detail) {
  Trigger& trigger = entry.trigger;
  if (trigger.settling)
    trigger.settling->until = std::max(trigger.settling->until, turn.now.wall);
  else if (turn.now.wall > trigger.mark)
    trigger.settling =
        Settling{.until = turn.now.wall, .why = std::string(why), .detail = std::move(detail)};
}

KeyedRequest KeyOf(const FireTrigger& command) {
  return {command.caller, command.key, command.body_sha256, command.known_key};
}

// A time of its own: slots of the schedule are whole seconds.
WallTime MomentByHand(const Trigger& trigger, WallTime now) {
  WallTime at = now;
  while (at.ms % 1000 == 0 || at == trigger.last_slot) ++at.ms;
  return at;
}

// Of a fire or a backfill: a person starts its runs.
template <typename Request>
AboutToStart StartedBy(const Request& command) {
  return {.origin = Origin::kPerson,
          .during_freeze = command.during_freeze,
          .plan = command.plan.spec,
          .frozen = command.plan.frozen};
}

// The run that its overlap rule makes others wait for.
std::optional<RunId> RunInTheWay(const Turn& turn, const TriggerEntry& entry) {
  const auto& open = OpenRunsOf(turn.state, entry.trigger.spec.name);
  if (open.size() < AllowedRuns(entry.trigger.spec)) return std::nullopt;
  return *open.begin();
}

std::optional<Result<FireTrigger::Answer>> Refusal(const Turn& turn, const TriggerEntry& entry,
                                                   const FireTrigger& command) {
  if (auto fits = CheckPlanBytes(command.plan.spec); !fits) return Fail(fits.error());
  if (auto closed = ClosedGate(turn.state)) return std::move(*closed);
  if (auto frozen = FrozenBy(turn, StartedBy(command))) return std::move(*frozen);
  if (const auto open = RunInTheWay(turn, entry); open && !command.despite_overlap)
    return Fail(ErrorCode::kConflict,
                "run {} of trigger '{}' is open; wait for its end, or start one beside it: "
                "--despite-overlap",
                FormatRunId(*open), command.name);
  if (Available hosts = LeaveOutMaintained(turn, command.plan.targets); hosts.targets->empty())
    return GateClosed{.gate = "maintenance", .reason = "no host is left: " + hosts.left_out};
  return std::nullopt;
}

// For the audit trail: what only the person's word passes over, each as "; …".
std::string PassedOver(const Turn& turn, const TriggerEntry& entry, const FireTrigger& command) {
  std::string text(DespiteFreeze(turn, StartedBy(command)));
  if (const auto open = RunInTheWay(turn, entry))
    text += fmt::format("; despite the overlap with {}", FormatRunId(*open));
  return text;
}

}  // namespace

void Decide(Turn& turn, const PauseTrigger& command) {
  TriggerEntry* entry = HoldFor(turn, command);
  if (entry == nullptr) return;
  Trigger& trigger = entry->trigger;
  if (!trigger.paused) {
    trigger.paused = true;
    trigger.paused_by = command.caller.name;
    trigger.reason = command.reason;
    entry->preparing.reset();
    Keep(turn, *entry);
    AuditAct(turn, command.caller, "pause", command.name, {}, command.reason);
    LookAt(turn, *entry);
  }
  AnswerWith(turn, command, *entry);
}

void Decide(Turn& turn, const ResumeTrigger& command) {
  TriggerEntry* entry = HoldFor(turn, command);
  if (entry == nullptr) return;
  Trigger& trigger = entry->trigger;
  if (trigger.paused || trigger.failed) {
    if (trigger.paused)
      SettlePast(turn, *entry, why::kPaused,
                 trigger.reason.empty()
                     ? fmt::format("by {}", trigger.paused_by)
                     : fmt::format("by {}: {}", trigger.paused_by, trigger.reason));
    else
      SettlePast(turn, *entry, why::kError, trigger.error);
    trigger.paused = trigger.failed = false;
    trigger.paused_by.clear();
    trigger.reason.clear();
    trigger.error.clear();
    Compile(turn.state, *entry);
    Keep(turn, *entry);
    AuditAct(turn, command.caller, "resume", command.name, {}, command.reason);
    LookAt(turn, *entry);
  }
  AnswerWith(turn, command, *entry);
}

void Decide(Turn& turn, const SkipSlot& command) {
  TriggerEntry* entry = HoldFor(turn, command);
  if (entry == nullptr) return;
  Trigger& trigger = entry->trigger;
  const auto slot = entry->times && command.slot > trigger.mark
                        ? entry->times->Next({command.slot.ms - 1})
                        : std::nullopt;
  if (slot != command.slot)
    return turn.Answer(command,
                       Fail(ErrorCode::kNotFound,
                            "trigger '{}' has no slot to come at {}; see 'muster triggers show {}'",
                            command.name, FormatTime(command.slot), command.name));
  const auto place = std::ranges::lower_bound(trigger.skips, command.slot, {}, &SkipWish::slot);
  if (place == trigger.skips.end() || place->slot != command.slot) {
    if (trigger.skips.size() >= kMostSkips)
      return turn.Answer(
          command, Fail(ErrorCode::kConflict,
                        "{} slots of trigger '{}' are to be skipped already; pause it instead",
                        kMostSkips, command.name));
    trigger.skips.insert(
        place, {.slot = command.slot, .by = command.caller.name, .reason = command.reason});
    Keep(turn, *entry);
    AuditAct(turn, command.caller, "skip", command.name, FormatTime(command.slot), command.reason);
    LookAt(turn, *entry);
  }
  AnswerWith(turn, command, *entry);
}

void Decide(Turn& turn, const BackfillTrigger& command) {
  TriggerEntry* entry = HoldFor(turn, command);
  if (entry == nullptr) return;
  Trigger& trigger = entry->trigger;
  if (trigger.backfill)
    return turn.Answer(command, Fail(ErrorCode::kConflict,
                                     "trigger '{}' is being backfilled up to {}; wait for its end",
                                     command.name, FormatTime(trigger.backfill->to)));
  if (!entry->times || command.from > command.to || command.to > turn.now.wall)
    return turn.Answer(command, Fail(ErrorCode::kInvalid,
                                     "a backfill goes from one moment of the past to a later one"));
  std::uint32_t slots = 0;
  entry->times->Visit({command.from.ms - 1}, command.to, [&](WallTime, bool gap, std::uint32_t) {
    if (!gap) ++slots;
    return slots <= kMostBackfilled;
  });
  if (slots == 0 || slots > kMostBackfilled)
    return turn.Answer(
        command,
        Fail(ErrorCode::kInvalid, "trigger '{}' has {} slots there; take {}", command.name,
             slots == 0 ? "no" : "too many", slots == 0 ? "another range" : "a shorter range"));
  if (command.dry_run) return turn.Answer(command, BackfillPlanned{slots});
  if (auto frozen = FrozenBy(turn, StartedBy(command)))
    return turn.Answer(command, std::move(*frozen));
  trigger.backfill = Backfill{.next = command.from,
                              .to = command.to,
                              .act = turn.state.audit.number + 1,
                              .by = command.caller.name,
                              .during_freeze = command.during_freeze};
  AuditAct(turn, command.caller, "backfill", command.name,
           fmt::format("{} slots from {} to {}{}", slots, FormatTime(command.from),
                       FormatTime(command.to), DespiteFreeze(turn, StartedBy(command))),
           command.reason);
  Keep(turn, *entry);
  LookAt(turn, *entry);
  AnswerWith(turn, command, *entry);
}

void Decide(Turn& turn, const FireTrigger& command) {
  if (!command.key.empty()) {
    const auto known = KnownKey(turn, KeyOf(command));
    if (!known && known.error().code == ErrorCode::kConflict)
      return turn.Answer(command, KeyRefused{known.error().message});
    if (!known) return turn.Answer(command, Fail(known.error()));
    if (*known)
      return turn.Answer(command,
                         RunStarted{(*known)->run, RunState::kRunning, 0, turn.commit, true});
  }
  TriggerEntry* entry = HoldFor(turn, command);
  if (entry == nullptr) return;
  if (auto refused = Refusal(turn, *entry, command))
    return turn.Answer(command, std::move(*refused));
  const std::uint64_t act = turn.state.audit.number + 1;
  const std::string passed_over = PassedOver(turn, *entry, command);
  AuditAct(turn, command.caller, "fire", command.name,
           passed_over.empty() ? "" : passed_over.substr(2), command.reason);
  const WallTime at = MomentByHand(entry->trigger, turn.now.wall);
  const OpenRun& open = Start(turn, *entry, at, act,
                              {.caller = command.caller,
                               .plan = command.plan,
                               .reason = command.reason,
                               .remark = passed_over});
  if (!command.key.empty()) RememberKey(turn, KeyOf(command), open.run.id);
  turn.Answer(command, RunStarted{open.run.id, open.run.state, open.run.hosts, turn.commit, false,
                                  open.run.spec.left_out});
  LookAt(turn, *entry);
}

}  // namespace muster::engine
