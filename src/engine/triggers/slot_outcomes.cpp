#include "engine/triggers/slot_outcomes.hpp"

#include <algorithm>
#include <utility>

#include "engine/hosts/maintenance.hpp"
#include "engine/notices/notices.hpp"
#include "engine/runs/start.hpp"
#include "engine/triggers/in_memory.hpp"

namespace muster::engine {
namespace {

// Acts of schedules have numbers that no entry of the trail reaches.
constexpr std::uint64_t kScheduleActs = 1ULL << 62;

// Whether only a run's wish made it a slot.
bool IsAsked(const TriggerEntry& entry, WallTime slot) {
  return slot == entry.trigger.asked && !entry.times->IsPlanned(slot);
}

void CloseFold(Turn& turn, TriggerEntry& entry) {
  if (std::exchange(entry.grown, false)) turn.Put(PutSlot{*entry.trigger.fold});
  entry.trigger.fold.reset();
}

void Fold(Turn& turn, TriggerEntry& entry, const Timetable::Stretch& slots, std::string_view why,
          std::string_view detail) {
  Trigger& trigger = entry.trigger;
  const bool asked = IsAsked(entry, slots.first);
  const bool full = trigger.fold && trigger.fold->count > UINT32_MAX - slots.count;
  if (!trigger.fold || trigger.fold->why != why || trigger.fold->asked || asked || full) {
    CloseFold(turn, entry);
    trigger.fold = SlotRecord{.trigger = trigger.spec.name,
                              .first = slots.first,
                              .last = slots.first,
                              .act = 0,
                              .count = 0,
                              .fate = SlotFate::kSkipped,
                              .why = std::string(why),
                              .detail = std::string(detail),
                              .run = {},
                              .at = turn.now.wall,
                              .version = trigger.version,
                              .asked = asked,
                              .commit = turn.commit};
  }
  trigger.fold->last = slots.last;
  trigger.fold->count += slots.count;
  trigger.skipped += slots.count;
  turn.state.triggers.tally.Count(why, slots.count);
  entry.grown = true;
}

void FoldGap(Turn& turn, TriggerEntry& entry, const Timetable::Stretch& gap) {
  Fold(turn, entry, gap, why::kGap, "the clock jumped over it");
}

// What a wish or an error was about is past.
void Pass(Turn& turn, TriggerEntry& entry, WallTime slot) {
  Trigger& trigger = entry.trigger;
  trigger.mark = std::max(trigger.mark, slot);
  trigger.errors_in_a_row = 0;
  trigger.retry_at = {};
  std::erase_if(trigger.skips, [&](const SkipWish& wish) { return wish.slot <= trigger.mark; });
  if (trigger.asked && trigger.asked <= trigger.mark) {
    trigger.asked = {};
    entry.times->Ask({});
  }
  Keep(turn, entry);
}

// What a clock change left out on the way to a slot is on record too.
void NoteGaps(Turn& turn, TriggerEntry& entry, WallTime slot) {
  entry.times->VisitStretches(entry.trigger.mark, slot, [&](const Timetable::Stretch& slots) {
    if (slots.gap) FoldGap(turn, entry, slots);
  });
}

std::string DetailOf(const NewSlotRun& made) {
  const bool both = !made.reason.empty() && !made.plan.note.empty();
  return made.reason + (both ? "; " : "") + made.plan.note;
}

}  // namespace

void NoteSchedule(Turn& turn, const TriggerEntry& entry, std::uint32_t version,
                  std::string_view detail) {
  const Trigger& trigger = entry.trigger;
  turn.Put(PutSlot{SlotRecord{.trigger = trigger.spec.name,
                              .first = trigger.mark,
                              .last = trigger.mark,
                              .act = kScheduleActs + turn.commit.value,
                              .count = 0,
                              .fate = SlotFate::kSchedule,
                              .why = {},
                              .detail = std::string(detail),
                              .run = {},
                              .at = turn.now.wall,
                              .version = version,
                              .commit = turn.commit}});
}

void Skip(Turn& turn, TriggerEntry& entry, WallTime slot, std::string_view why,
          std::string_view detail) {
  turn.Spend();
  NoteGaps(turn, entry, slot);
  Fold(turn, entry, {.first = slot, .last = slot}, why, detail);
  Pass(turn, entry, slot);
}

void Settle(Turn& turn, TriggerEntry& entry) {
  Trigger& trigger = entry.trigger;
  const Settling settling = *std::exchange(trigger.settling, std::nullopt);
  turn.Spend();
  entry.times->VisitStretches(trigger.mark, settling.until, [&](const Timetable::Stretch& slots) {
    if (slots.gap)
      FoldGap(turn, entry, slots);
    else
      Fold(turn, entry, slots, settling.why, settling.detail);
  });
  if (settling.why == why::kMissed && trigger.fold && trigger.fold->why == why::kMissed)
    TellOfTrigger(turn, trigger.spec, why::kMissed,
                  fmt::format("{} slots were missed, from {} to {}", trigger.fold->count,
                              FormatTime(trigger.fold->first), FormatTime(trigger.fold->last)));
  Pass(turn, entry, settling.until);
}

void SkipAll(Turn& turn, TriggerEntry& entry, WallTime until, std::string_view why,
             std::string_view detail) {
  if (!entry.times) return;
  if (entry.trigger.settling) Settle(turn, entry);
  if (until <= entry.trigger.mark) return;
  entry.trigger.settling =
      Settling{.until = until, .why = std::string(why), .detail = std::string(detail)};
  Settle(turn, entry);
}

OpenRun& Start(Turn& turn, TriggerEntry& entry, WallTime slot, std::uint64_t act, NewSlotRun made) {
  Trigger& trigger = entry.trigger;
  if (act == 0) {
    NoteGaps(turn, entry, slot);
    CloseFold(turn, entry);
  }
  Available hosts = LeaveOutMaintained(turn, made.plan.targets);
  hosts.AddLeftOut(made.plan.never_joined);
  RunSpec spec = made.plan.spec;
  spec.left_out = std::move(hosts.left_out);
  spec.data = trigger.data;
  OpenRun& open = CreateRun(
      turn, {.caller = made.caller,
             .spec = std::move(spec),
             .targets = std::move(hosts.targets),
             .note = {.reason = made.reason, .names = made.plan.names, .remark = made.remark},
             .trigger = trigger.spec.name,
             .slot = slot,
             .starters = std::move(made.starters)});
  turn.Put(PutSlot{SlotRecord{.trigger = trigger.spec.name,
                              .first = slot,
                              .last = slot,
                              .act = act,
                              .count = 1,
                              .fate = SlotFate::kStarted,
                              .why = {},
                              .detail = DetailOf(made),
                              .run = open.run.id,
                              .at = turn.now.wall,
                              .version = trigger.version,
                              .asked = act == 0 && IsAsked(entry, slot),
                              .commit = turn.commit}});
  ++trigger.started;
  auto& tally = turn.state.triggers.tally;
  tally.Count("started", 1);
  if (act == 0) tally.CountLate(turn.now.wall - entry.times->DueAt(slot));
  trigger.last_run = open.run.id;
  trigger.last_slot = slot;
  trigger.error.clear();
  if (act == 0)
    Pass(turn, entry, slot);
  else
    Keep(turn, entry);
  return open;
}

}  // namespace muster::engine
