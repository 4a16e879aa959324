#include "engine/triggers/in_memory.hpp"

#include <algorithm>
#include <utility>

namespace muster::engine {
namespace {

constexpr std::size_t kMostLeft = 10'000;

void RememberLeft(TriggerMemory& memory, const std::string& name, CommitNumber commit) {
  memory.left[name] = commit;
  memory.left_order.emplace_back(name, commit);
  if (memory.left_order.size() <= kMostLeft) return;
  const auto [oldest, then] = memory.left_order.front();
  memory.left_order.pop_front();
  memory.left_forgotten_at = std::max(memory.left_forgotten_at, then);
  if (const auto found = memory.left.find(oldest);
      found != memory.left.end() && found->second == then)
    memory.left.erase(found);
}

// Slots after the backup may have been started before its restore; nobody here knows which.
void SettleRestored(const State& state, TriggerEntry& entry) {
  Trigger& trigger = entry.trigger;
  if (!state.keeping.restored || trigger.mark >= state.keeping.restored->at || trigger.dropped ||
      !entry.times)
    return;
  const auto first = entry.times->Next(trigger.mark);
  if (first && *first <= state.keeping.restored->at) {
    if (!trigger.settling)
      trigger.settling = Settling{.until = state.keeping.restored->at,
                                  .why = std::string(why::kRestored),
                                  .detail = "between the backup and its restore"};
    trigger.settling->until = std::max(trigger.settling->until, state.keeping.restored->at);
    entry.changed = true;
  }
  if (trigger.backfill && state.FromBackup(trigger.last_run)) {
    trigger.backfill.reset();
    entry.changed = true;
  }
}

// The row is about to be written: it may count for something else than before.
void Recount(TriggerMemory& memory, TriggerEntry& entry) {
  const auto now = CountedAs(entry.trigger);
  if (now == entry.counted) return;
  if (entry.counted && memory.counts.Of(*entry.counted) > 0) --memory.counts.Of(*entry.counted);
  if (now) ++memory.counts.Of(*now);
  entry.counted = now;
  memory.counts_changed = true;
}

bool IsNeeded(const State& state, const TriggerEntry& entry) {
  const auto& memory = state.triggers;
  const std::string& name = entry.trigger.spec.name;
  if (memory.runs.contains(name) || entry.preparing || entry.backfilling) return true;
  const std::int64_t hour = DueHour(entry.trigger);
  const std::int64_t near = memory.fetch ? memory.fetch->until : memory.horizon;
  return hour > 0 && hour <= near;
}

}  // namespace

bool IsCurrent(const State& state, const std::string& name, CommitNumber read) {
  const auto& memory = state.triggers;
  const auto left = memory.left.find(name);
  return read >= (left == memory.left.end() ? memory.left_forgotten_at : left->second);
}

Result<TriggerEntry*> HoldAny(Turn& turn, const std::string& name,
                              const ReadAt<std::optional<Trigger>>& known) {
  auto& memory = turn.state.triggers;
  memory.touched.insert(name);
  if (const auto found = memory.entries.find(name); found != memory.entries.end())
    return &found->second;
  if (!IsCurrent(turn.state, name, known.commit))
    return Fail(ErrorCode::kUnavailable, "trigger '{}' changed just now; try again", name);
  Trigger trigger;
  trigger.spec.name = name;
  trigger.dropped = true;
  if (known.value) trigger = *known.value;
  return &Enter(turn.state, std::move(trigger));
}

Result<TriggerEntry*> Hold(Turn& turn, const std::string& name,
                           const ReadAt<std::optional<Trigger>>& known) {
  auto entry = HoldAny(turn, name, known);
  if (entry && (*entry)->trigger.dropped)
    return Fail(ErrorCode::kNotFound, "there is no trigger '{}'; see 'muster triggers'", name);
  return entry;
}

void Compile(State& state, TriggerEntry& entry) {
  Trigger& trigger = entry.trigger;
  entry.spec = std::make_shared<const TriggerSpec>(trigger.spec);
  entry.times.reset();
  if (trigger.dropped || !state.options.zones) return;
  auto times = Timetable::Of(trigger.spec, trigger.applied, *state.options.zones);
  if (!times) {
    trigger.failed = true;
    trigger.error = times.error().message;
    entry.changed = true;
    return;
  }
  entry.times = std::move(*times);
  entry.times->Ask(trigger.asked);
}

TriggerEntry& Enter(State& state, Trigger trigger) {
  auto& memory = state.triggers;
  const std::string name = trigger.spec.name;
  TriggerEntry& entry = memory.entries[name];
  entry.trigger = std::move(trigger);
  entry.counted = CountedAs(entry.trigger);
  memory.touched.insert(name);
  Compile(state, entry);
  SettleRestored(state, entry);
  if (!IsIdle(entry.trigger)) Arm(state, entry, {1});
  return entry;
}

void Keep(Turn& turn, TriggerEntry& entry) {
  entry.changed = true;
  turn.state.triggers.touched.insert(entry.trigger.spec.name);
}

void Arm(State& state, TriggerEntry& entry, WallTime at) {
  auto& due = state.triggers.due;
  const std::string& name = entry.trigger.spec.name;
  if (entry.armed) due.erase({entry.armed, name});
  entry.armed = at;
  if (at) due.insert({at, name});
}

const std::set<RunId>& OpenRunsOf(const State& state, const std::string& name) {
  static const std::set<RunId> kNone;
  const auto found = state.triggers.runs.find(name);
  return found == state.triggers.runs.end() ? kNone : found->second;
}

void WriteTriggers(Turn& turn) {
  auto& memory = turn.state.triggers;
  for (const auto& name : std::exchange(memory.touched, {})) {
    const auto found = memory.entries.find(name);
    if (found == memory.entries.end()) continue;
    TriggerEntry& entry = found->second;
    if (std::exchange(entry.grown, false) && entry.trigger.fold)
      turn.Put(PutSlot{*entry.trigger.fold});
    if (std::exchange(entry.changed, false)) {
      const auto next = entry.times ? entry.times->Next(entry.trigger.mark) : std::nullopt;
      entry.trigger.next = next.value_or(WallTime{});
      Recount(memory, entry);
      turn.Put(PutTrigger{entry.trigger});
      entry.changed_at = turn.commit;
    }
    if (IsNeeded(turn.state, entry)) continue;
    Arm(turn.state, entry, {});
    if (entry.changed_at) RememberLeft(memory, name, entry.changed_at);
    memory.entries.erase(found);
  }
  if (std::exchange(memory.counts_changed, false)) turn.Put(PutTriggerCounts{memory.counts});
}

void LoadTriggers(State& state, Snapshot& snapshot, Now now) {
  state.triggers.looked = now;
  state.triggers.counts = snapshot.trigger_counts;
  for (const auto& [id, open] : state.runs.open)
    if (!open.run.trigger.empty()) state.triggers.runs[open.run.trigger].insert(id);
  for (auto& trigger : snapshot.triggers) Enter(state, std::move(trigger));
}

}  // namespace muster::engine
