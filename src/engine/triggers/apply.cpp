#include "engine/triggers/apply.hpp"

#include <algorithm>

#include "engine/triggers/due_slots.hpp"
#include "engine/triggers/in_memory.hpp"
#include "engine/triggers/slot_outcomes.hpp"

namespace muster::engine {
namespace {

// Slots that are due by now end here.
void EndDue(Turn& turn, TriggerEntry& entry, std::string_view detail) {
  const Trigger& trigger = entry.trigger;
  const std::string_view why = trigger.paused   ? why::kPaused
                               : trigger.failed ? why::kError
                                                : why::kByHand;
  if (!trigger.complete) SkipAll(turn, entry, turn.now.wall, why, detail);
  entry.preparing.reset();
}

void BeginAnew(Turn& turn, Trigger& trigger) {
  trigger.mark = std::max(trigger.mark, turn.now.wall);
  trigger.applied = turn.now.wall;
  trigger.seen = {};
  trigger.asked = {};
  trigger.complete = false;
}

// A name that comes back has nothing of its former life but the mark, the counts and its ledger.
void Revive(Turn& turn, Trigger& trigger) {
  Trigger fresh;
  fresh.mark = trigger.mark;
  fresh.started = trigger.started;
  fresh.skipped = trigger.skipped;
  trigger = std::move(fresh);
  BeginAnew(turn, trigger);
}

void BeginPaused(Trigger& trigger, const std::string& by) {
  trigger.paused = true;
  trigger.paused_by = by;
  trigger.reason = "since it was applied";
}

}  // namespace

Result<> CheckTriggers(Turn& turn, const ApplyDocuments& command) {
  const auto has = [&](std::string_view kind, const std::string& name) {
    return kind != kTriggerKind || command.triggers.contains(name);
  };
  for (const auto& document : command.puts)
    if (!has(document->kind, document->name))
      return Fail(ErrorCode::kInternal, "trigger '{}' was not looked up", document->name);
  for (const auto& [kind, name] : command.drops)
    if (!has(kind, name)) return Fail(ErrorCode::kInternal, "trigger '{}' was not looked up", name);
  for (const auto& [name, applied] : command.triggers)
    if (!turn.state.triggers.entries.contains(name) &&
        !IsCurrent(turn.state, name, applied.known.commit))
      return Fail(ErrorCode::kUnavailable, "trigger '{}' changed just now; try again", name);
  return {};
}

DocumentHead TriggerHead(Turn& turn, const std::string& name, const AppliedTrigger& applied) {
  DocumentHead head{.kind = std::string(kTriggerKind), .name = name, .dropped = true, .files = {}};
  const auto held = HoldAny(turn, name, applied.known);
  if (!held) return head;  // CheckTriggers has looked
  const Trigger& trigger = (*held)->trigger;
  head.version = trigger.version;
  head.hash = trigger.hash;
  head.dropped = trigger.dropped;
  return head;
}

void ApplyTrigger(Turn& turn, const AppliedTrigger& applied, const DocumentHead& head,
                  const std::string& by) {
  const auto held = HoldAny(turn, applied.spec->name, applied.known);
  if (!held) return;  // CheckTriggers has looked
  TriggerEntry& entry = **held;
  Trigger& trigger = entry.trigger;
  const bool anew = trigger.dropped || trigger.complete || !SameSlots(trigger.spec, *applied.spec);
  if (trigger.dropped) {
    Revive(turn, trigger);
    if (applied.paused) BeginPaused(trigger, by);
  } else if (anew || trigger.failed) {
    EndDue(turn, entry, "the trigger was changed");
    if (anew) BeginAnew(turn, trigger);
  }
  trigger.spec = *applied.spec;
  trigger.version = head.version;
  trigger.hash = head.hash;
  trigger.by = by;
  trigger.failed = false;
  trigger.error.clear();
  trigger.errors_in_a_row = 0;
  trigger.retry_at = {};
  if (anew) NoteSchedule(turn, entry, head.version, {});
  Compile(turn.state, entry);
  Keep(turn, entry);
  LookAt(turn, entry);
}

void DropTriggerOf(Turn& turn, const std::string& name, const AppliedTrigger& applied) {
  const auto held = Hold(turn, name, applied.known);
  if (!held) return;
  TriggerEntry& entry = **held;
  EndDue(turn, entry, "the trigger was deleted");
  entry.backfilling.reset();
  entry.trigger.backfill.reset();
  entry.trigger.dropped = true;
  NoteSchedule(turn, entry, 0, "deleted");
  Keep(turn, entry);
  Arm(turn.state, entry, {});
}

}  // namespace muster::engine
