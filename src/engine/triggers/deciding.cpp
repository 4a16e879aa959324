#include "engine/triggers/deciding.hpp"

#include <algorithm>
#include <utility>

#include "domain/audit_facts.hpp"
#include "engine/hosts/maintenance.hpp"
#include "engine/notices/notices.hpp"
#include "engine/runs/start.hpp"
#include "engine/triggers/holding.hpp"

namespace muster::engine {
namespace {

// One decision counts so many skipped slots at most; each costs well under a microsecond.
constexpr std::size_t kSlice = 5000;

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

void Fold(Turn& turn, TriggerEntry& entry, WallTime slot, std::uint32_t count, std::string_view why,
          std::string_view detail) {
  Trigger& trigger = entry.trigger;
  const bool asked = IsAsked(entry, slot);
  if (!trigger.fold || trigger.fold->why != why || trigger.fold->asked || asked) {
    CloseFold(turn, entry);
    trigger.fold = SlotRecord{.trigger = trigger.spec.name,
                              .first = slot,
                              .last = slot,
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
  trigger.fold->last = slot;
  trigger.fold->count += count;
  trigger.skipped += count;
  turn.state.triggers.tally.Count(why, count);
  entry.grown = true;
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
  entry.times->Visit(entry.trigger.mark, slot, [&](WallTime at, bool gap, std::uint32_t count) {
    if (gap) Fold(turn, entry, at, count, why::kGap, "the clock jumped over it");
    return at < slot;
  });
}

void AuditStart(Turn& turn, const NewSlotRun& made, const Run& run) {
  AuditEntry entry;
  entry.act = kActRunStart;
  entry.object = FormatRunId(run.id);
  std::string detail = fmt::format("{} on {} hosts ({}), trigger {}, slot {}", WorkOf(run.spec),
                                   run.hosts, run.spec.targets, run.trigger, FormatTime(run.slot));
  entry.reason = made.reason;
  entry.run = run.id;
  entry.hosts = run.hosts;
  entry.names = made.plan.names;
  if (!run.spec.left_out.empty()) detail += "; without " + run.spec.left_out;
  AuditFacts facts = FactsOf(run.spec);
  facts.trigger = run.trigger;
  facts.starters = run.starters;
  entry.detail = DetailWith(std::move(detail), facts);
  if (const muster::Command* executed = CommandOf(run.spec.stages.front())) {
    entry.command = AuditText(*executed);
    entry.command_sha256 = CommandHash(*executed);
  }
  turn.Audit(made.caller, std::move(entry));
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
  Fold(turn, entry, slot, 1, why, detail);
  Pass(turn, entry, slot);
}

bool Settle(Turn& turn, TriggerEntry& entry) {
  Trigger& trigger = entry.trigger;
  const Settling settling = *trigger.settling;
  std::size_t left = kSlice;
  WallTime reached = trigger.mark;
  turn.Spend();
  entry.times->Visit(trigger.mark, settling.until, [&](WallTime at, bool gap, std::uint32_t count) {
    reached = at;
    if (gap)
      Fold(turn, entry, at, count, why::kGap, "the clock jumped over it");
    else
      Fold(turn, entry, at, count, settling.why, settling.detail);
    return --left > 0;
  });
  const bool through = left > 0;
  if (through) trigger.settling.reset();
  if (through && settling.why == why::kMissed && trigger.fold && trigger.fold->why == why::kMissed)
    TellOfTrigger(turn, trigger.spec, why::kMissed,
                  fmt::format("{} slots were missed, from {} to {}", trigger.fold->count,
                              FormatTime(trigger.fold->first), FormatTime(trigger.fold->last)));
  Pass(turn, entry, through ? settling.until : reached);
  return through;
}

void SkipAll(Turn& turn, TriggerEntry& entry, WallTime until, std::string_view why,
             std::string_view detail) {
  if (!entry.times) return;
  while (entry.trigger.settling && !Settle(turn, entry)) {
  }
  if (until <= entry.trigger.mark) return;
  entry.trigger.settling =
      Settling{.until = until, .why = std::string(why), .detail = std::string(detail)};
  while (!Settle(turn, entry)) {
  }
}

OpenRun& Start(Turn& turn, TriggerEntry& entry, WallTime slot, std::uint64_t act, NewSlotRun made) {
  Trigger& trigger = entry.trigger;
  if (act == 0) {
    NoteGaps(turn, entry, slot);
    CloseFold(turn, entry);
  }
  Available hosts = LeaveOutMaintained(turn, made.plan.targets);
  RunSpec spec = made.plan.spec;
  spec.left_out = std::move(hosts.left_out);
  spec.data = trigger.data;
  OpenRun& open = CreateRun(turn, {.by = made.caller.name,
                                   .spec = std::move(spec),
                                   .targets = std::move(hosts.targets),
                                   .trigger = trigger.spec.name,
                                   .slot = slot,
                                   .starters = std::move(made.starters)});
  AuditStart(turn, made, open.run);
  turn.Put(PutSlot{SlotRecord{.trigger = trigger.spec.name,
                              .first = slot,
                              .last = slot,
                              .act = act,
                              .count = 1,
                              .fate = SlotFate::kStarted,
                              .why = {},
                              .detail = made.reason,
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
