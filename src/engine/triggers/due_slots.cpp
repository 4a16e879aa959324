#include "engine/triggers/due_slots.hpp"

#include <algorithm>

#include "engine/triggers/in_memory.hpp"
#include "engine/triggers/slot_outcomes.hpp"
#include "engine/triggers/verdict.hpp"

namespace muster::engine {
namespace {

constexpr Duration kFetchedAhead = std::chrono::minutes(10);
constexpr Duration kFetchAgain = std::chrono::seconds(10);
constexpr Duration kLongestRetry = std::chrono::minutes(10);

// Asks for a slot's plan, unless that is under way. Returns when to look again.
WallTime Prepare(Turn& turn, TriggerEntry& entry, std::optional<TriggerEntry::Asked>& asked,
                 WallTime slot, std::uint64_t act) {
  const WallTime again = turn.now.wall + turn.state.options.ask_again;
  // A clock that was set back makes nobody wait longer.
  const bool waits = asked && asked->slot == slot && asked->act == act &&
                     asked->again > turn.now.wall && asked->again <= again;
  if (waits) return asked->again;
  asked = TriggerEntry::Asked{.slot = slot, .act = act, .again = again};
  turn.AskServer(PrepareSlot{.trigger = entry.trigger.spec.name,
                             .version = entry.trigger.version,
                             .slot = slot,
                             .act = act,
                             .spec = entry.spec,
                             .data = entry.trigger.data,
                             .find_author = entry.trigger.by.empty()});
  return again;
}

// The next slots of the schedule, as far as they go now. Returns when to look again.
WallTime LookAtSchedule(Turn& turn, TriggerEntry& entry) {
  Trigger& trigger = entry.trigger;
  while (!turn.Spent()) {
    turn.Spend();
    if (trigger.settling) {
      Settle(turn, entry);
      continue;
    }
    if (trigger.paused || trigger.failed || trigger.complete) return {};
    const auto slot = entry.times->Next(trigger.mark);
    if (!slot) return {};
    if (const WallTime due = entry.times->DueAt(*slot); due > turn.now.wall) return due;
    if (ChooseMissed(turn, entry)) continue;
    const Verdict verdict = Judge(turn, entry, *slot);
    switch (verdict.kind) {
      case Verdict::Kind::kSkip:
        Skip(turn, entry, *slot, verdict.why, verdict.detail);
        continue;
      case Verdict::Kind::kWait:
        return Queue(turn, entry, *slot);
      case Verdict::Kind::kStart:
        break;
    }
    if (trigger.retry_at > turn.now.wall && trigger.retry_at - turn.now.wall <= kLongestRetry)
      return trigger.retry_at;
    return Prepare(turn, entry, entry.preparing, *slot, 0);
  }
  return turn.now.wall;
}

WallTime LookAtBackfill(Turn& turn, TriggerEntry& entry) {
  Trigger& trigger = entry.trigger;
  if (!trigger.backfill || trigger.settling) return {};
  const auto slot = entry.times->Next({trigger.backfill->next.ms - 1});
  if (!slot || *slot > trigger.backfill->to) {
    trigger.backfill.reset();
    Keep(turn, entry);
    return {};
  }
  if (OpenRunsOf(turn.state, trigger.spec.name).size() >= AllowedRuns(trigger.spec)) return {};
  return Prepare(turn, entry, entry.backfilling, *slot, trigger.backfill->act);
}

void FetchNear(Turn& turn) {
  auto& memory = turn.state.triggers;
  const std::int64_t wanted = HourOf(turn.now.wall + kFetchedAhead);
  if (!memory.fetch) {
    if (memory.horizon >= wanted) return;
    memory.fetch = TriggerMemory::Fetch{
        .after = {.hour = memory.horizon + 1, .name = {}}, .until = wanted, .again = {}};
  } else if (memory.fetch->again > turn.now.mono) {
    return;
  }
  memory.fetch->again = turn.now.mono + kFetchAgain;
  turn.AskServer(FetchTriggers{.after = memory.fetch->after,
                               .until = memory.fetch->until,
                               .limit = turn.state.options.most_things});
}

}  // namespace

void LookAt(Turn& turn, TriggerEntry& entry) {
  turn.state.triggers.touched.insert(entry.trigger.spec.name);
  if (entry.trigger.dropped || !entry.times) return Arm(turn.state, entry, {});
  const WallTime schedule = LookAtSchedule(turn, entry);
  const WallTime backfill = LookAtBackfill(turn, entry);
  Arm(turn.state, entry,
      schedule && backfill ? std::min(schedule, backfill) : std::max(schedule, backfill));
}

void LookAtTriggers(Turn& turn) {
  if (!turn.state.options.zones) return;
  FetchNear(turn);
  auto& memory = turn.state.triggers;
  while (!memory.due.empty() && memory.due.begin()->first <= turn.now.wall && !turn.Spent()) {
    turn.Spend();
    LookAt(turn, memory.entries.at(memory.due.begin()->second));
  }
}

bool TriggersDue(const State& state, Now now) {
  const auto& due = state.triggers.due;
  return state.options.zones && !due.empty() && due.begin()->first <= now.wall;
}

MonoTime NextTriggerWake(const State& state) {
  if (!state.options.zones) return kNever;
  const auto& memory = state.triggers;
  if (!memory.fetch && memory.horizon == 0) return {0};  // never asked yet
  const auto at = [&memory](WallTime time) {
    return memory.looked.mono + std::max(Duration::zero(), time - memory.looked.wall);
  };
  MonoTime wake = memory.looked.mono + state.options.clock_watch;
  const WallTime fetch = WallTime{(memory.horizon + 1) * 3'600'000} + -kFetchedAhead;
  wake = std::min(wake, memory.fetch ? memory.fetch->again : at(fetch));
  if (!memory.due.empty()) wake = std::min(wake, at(memory.due.begin()->first));
  return wake;
}

void Decide(Turn& turn, const TakeTriggers& command) {
  auto& memory = turn.state.triggers;
  const bool expected = memory.fetch && memory.fetch->until == command.until &&
                        memory.fetch->after.hour == command.after.hour &&
                        memory.fetch->after.name == command.after.name;
  if (!expected) return;
  // So much has changed since that nobody can say which of these rows still hold: read them again.
  if (command.found.commit < memory.left_forgotten_at) {
    memory.fetch->again = {0};
    return;
  }
  for (const auto& trigger : command.found.value) {
    const std::string& name = trigger.spec.name;
    turn.Spend();
    if (!memory.entries.contains(name) && IsCurrent(turn.state, name, command.found.commit))
      Enter(turn.state, trigger);
  }
  if (command.more && !command.found.value.empty()) {
    const Trigger& last = command.found.value.back();
    memory.fetch->after = {.hour = DueHour(last), .name = last.spec.name};
    memory.fetch->again = {0};
    return;
  }
  memory.horizon = command.until;
  memory.fetch.reset();
}

}  // namespace muster::engine
