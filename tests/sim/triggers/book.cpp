#include "sim/triggers/book.hpp"

#include <algorithm>

#include "checks/slot_ledger.hpp"
#include "cron/next.hpp"

namespace muster::sim {
namespace {

std::uint32_t Allowed(const TriggerSpec& spec) {
  return spec.overlap == OverlapRule::kAllow ? std::max(1U, spec.overlap_allowed) : 1;
}

}  // namespace

void Book::Take(const Batch& batch, WallTime now) {
  for (const auto& sentence : words_.Take(batch)) Break("{}", sentence);
  ended_.clear();
  for (const auto& change : batch.changes)
    if (const auto* run = std::get_if<PutRun>(&change); run && IsFinal(run->run.state))
      ended_.insert(run->run.trigger);
  for (const auto& change : batch.changes) {
    if (const auto* trigger = std::get_if<PutTrigger>(&change)) TakeTrigger(trigger->trigger);
    if (const auto* slot = std::get_if<PutSlot>(&change)) TakeSlot(slot->slot, now);
    if (const auto* run = std::get_if<PutRun>(&change)) TakeRun(run->run);
  }
}

// A wish that the mark has passed was a slot, unless something else of the same batch came first.
void Book::TakeAsked(Life& life, const Trigger& after) {
  const Trigger& before = life.row;
  const bool sure = !ended_.contains(after.spec.name) && before.version == after.version &&
                    before.dropped == after.dropped;
  if (before.asked > before.mark && before.asked <= after.mark) life.asked[before.asked] = sure;
  if (!sure && after.asked) life.asked[after.asked] = false;
}

void Book::TakeTrigger(const Trigger& trigger) {
  Life& life = lives_[trigger.spec.name];
  TakeAsked(life, trigger);
  const Trigger& before = life.row;
  if (trigger.mark < before.mark)
    Break("{}: the mark went back from {} to {}", trigger.spec.name, FormatTime(before.mark),
          FormatTime(trigger.mark));
  const bool there = before.version > 0 && !before.dropped;
  const bool same = there && SameSlots(before.spec, trigger.spec);
  if (there) life.segments.back().to = trigger.mark;
  if (!same && !trigger.dropped)
    life.segments.push_back({trigger.spec, trigger.applied, trigger.mark, trigger.mark});
  life.row = trigger;
  life.versions[trigger.version] = trigger.spec;
}

void Book::TakeSlot(const SlotRecord& slot, WallTime now) {
  if (slot.fate != SlotFate::kStarted || slot.act != 0) return;
  ++starts;
  if (!started_->insert({slot.trigger, slot.first}).second)
    Break("{}: slot {} was started twice", slot.trigger, FormatTime(slot.first));
  const Life& life = lives_[slot.trigger];
  if (slot.first <= life.row.mark)
    Break("{}: slot {} was started behind the mark {}", slot.trigger, FormatTime(slot.first),
          FormatTime(life.row.mark));
  if (slot.first > now)
    Break("{}: slot {} was started before its time, at {}", slot.trigger, FormatTime(slot.first),
          FormatTime(now));
  if (life.row.paused || life.row.dropped)
    Break("{}: slot {} was started though it is {}", slot.trigger, FormatTime(slot.first),
          life.row.paused ? "paused" : "gone");
}

void Book::TakeRun(const Run& run) {
  if (run.trigger.empty()) return;
  Life& life = lives_[run.trigger];
  if (IsFinal(run.state)) {
    life.open.erase(run.id);
    return;
  }
  if (!life.open.insert(run.id).second) return;
  const bool scheduled = run.slot.ms % 1000 == 0;
  if (scheduled && life.open.size() > Allowed(life.row.spec))
    Break("{}: {} runs are open at once", run.trigger, life.open.size());
}

Book::Slots Book::Expected(const Life& life) const {
  Slots expected = life.asked;
  for (const auto& segment : life.segments) {
    const auto times = engine::Timetable::Of(segment.spec, segment.applied, *zones_);
    if (!times) continue;
    for (auto slot = times->Next(segment.from); slot && *slot <= segment.to;
         slot = times->Next(*slot))
      expected[*slot] = true;
  }
  return expected;
}

void Book::CheckRows(const std::string& name, Slots left, const std::vector<SlotRecord>& rows) {
  for (const auto& row : rows) {
    if (row.act != 0) continue;
    if (row.fate == SlotFate::kSkipped && row.why.empty())
      Break("{}: slot {} has no reason", name, FormatTime(row.first));
    if (row.fate == SlotFate::kSkipped) skips[row.why] += row.count;
    if (row.why == why::kGap) continue;
    const auto begin = left.lower_bound(row.first);
    const auto end = left.upper_bound(row.last);
    const auto covers = std::distance(begin, end);
    const auto sure = std::count_if(begin, end, [](const auto& slot) { return slot.second; });
    if (covers < row.count || sure > row.count || !left.contains(row.first))
      Break("{}: row {} to {} ({} {}) covers {} slots", name, FormatTime(row.first),
            FormatTime(row.last), row.count, row.fate == SlotFate::kStarted ? "started" : row.why,
            covers);
    left.erase(begin, end);
  }
  for (const auto& [slot, sure] : left)
    if (sure) Break("{}: slot {} is not on record", name, FormatTime(slot));
}

void Book::CheckLedger(Store& store) {
  for (const auto& [name, life] : lives_) {
    auto rows = store.ListSlots(name, {}, {}, 1'000'000);
    std::ranges::reverse(*rows);
    CheckRows(name, Expected(life), *rows);
  }
}

void Book::CheckRecord(Store& store, WallTime now) {
  for (const auto& [name, life] : lives_) {
    checks::SlotHistory history;
    history.trigger = store.FindTrigger(name)->value.value_or(Trigger{});
    history.open = !life.open.empty();
    history.rows = *store.ListSlots(name, {}, {}, 1'000'000);
    std::ranges::reverse(history.rows);
    RunFilter filter;
    filter.by = ByTrigger(name);
    for (const auto& run : *store.ListRuns(filter, {}, 1'000'000))
      history.runs.push_back({run.id, run.slot});
    history.since = {1};
    history.now = now;
    history.until = {std::max(now, history.trigger.mark).ms + 1};
    const auto report = checks::CheckSlots(
        history, {.spec = [&](std::uint32_t version) -> Result<TriggerSpec> {
                    return life.versions.at(version);
                  },
                  .zone = [&](const std::string& zone) { return zones_->Find(zone); }});
    if (!report) Break("{}: could not be checked: {}", name, report.error().message);
    for (const auto& finding : report ? report->findings : std::vector<checks::SlotFinding>())
      Break("{}: {}: {} to {} ({}): {}", name, checks::Name(finding.kind),
            FormatTime(finding.first), FormatTime(finding.last), finding.count, finding.text);
  }
}

void Book::CheckSettled(Store& store, WallTime now) {
  for (const auto& [name, life] : lives_) {
    const auto row = store.FindTrigger(name)->value;
    if (!row || row->dropped || row->paused || row->failed || !life.open.empty()) continue;
    if (row->settling) Break("{}: still counting up to {}", name, FormatTime(row->settling->until));
    auto times = engine::Timetable::Of(row->spec, row->applied, *zones_);
    if (times) times->Ask(row->asked);
    const auto next = times ? times->Next(row->mark) : std::nullopt;
    if (next && times->DueAt(*next) + std::chrono::minutes(30) < now)
      Break("{}: slot {} was left undecided until {}", name, FormatTime(*next), FormatTime(now));
  }
}

}  // namespace muster::sim
