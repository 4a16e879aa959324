#include "adapters/sqlite/trigger_rows.hpp"

#include <array>
#include <limits>
#include <set>

#include "adapters/records/records.hpp"
#include "adapters/sqlite/record_writer.hpp"
#include "adapters/sqlite/rows.hpp"

namespace muster::sqlite {
namespace {

Result<Trigger> TriggerOf(const Statement& row) {
  auto trigger = records::DecodeTrigger(row.ColumnBytes(0));
  if (trigger) trigger->dropped = row.ColumnInt(1) != 0;
  return trigger;
}

Result<SlotRecord> SlotOf(const Statement& row) { return records::DecodeSlot(row.ColumnBytes(0)); }

// A row that began before `since` may reach into it; rows of the schedule do not overlap, so it can
// only be the last of those.
Result<std::int64_t> FirstFrom(Database& database, std::string_view trigger, WallTime since) {
  auto found = ReadOne<std::int64_t>(
      database,
      "SELECT first, last FROM slot WHERE trigger_name = ? AND first < ? AND act = 0"
      " ORDER BY first DESC LIMIT 1",
      [&](Statement& read) { read.Text(trigger).Int(since.ms); },
      [&](const Statement& row) -> Result<std::int64_t> {
        return row.ColumnInt(1) >= since.ms ? row.ColumnInt(0) : since.ms;
      });
  if (!found) return Fail(found.error());
  return found->value_or(since.ms);
}

// Rows of `meta`, one for each state that a trigger's row can be in.
constexpr std::array kCounted = {TriggerState::kRunnable, TriggerState::kPaused,
                                 TriggerState::kComplete, TriggerState::kError};
std::string MetaOf(TriggerState state) { return fmt::format("triggers_{}", Name(state)); }

Result<TriggerCounts> CountTriggers(Database& database) {
  auto all = database.Prepare("SELECT record, dropped FROM trigger_row");
  if (!all) return Fail(all.error());
  TriggerCounts counts;
  auto ended = EachRow(**all, [&](const Statement& row) -> Result<> {
    const auto trigger = TriggerOf(row);
    if (!trigger) return Fail(trigger.error());
    if (const auto state = CountedAs(*trigger)) ++counts.Of(*state);
    return {};
  });
  if (!ended) return Fail(ended.error());
  return counts;
}

}  // namespace

Result<std::optional<Trigger>> ReadTrigger(Database& database, std::string_view name) {
  return ReadOne<Trigger>(
      database, "SELECT record, dropped FROM trigger_row WHERE name = ?",
      [&](Statement& read) { read.Text(name); }, TriggerOf);
}

Result<std::vector<Trigger>> ReadTriggers(Database& database, std::string_view after,
                                          std::size_t limit) {
  return ReadAll<Trigger>(database,
                          "SELECT record, dropped FROM trigger_row WHERE name > ? AND dropped = 0"
                          " ORDER BY name LIMIT ?",
                          TriggerOf,
                          [&](Statement& read) { read.Text(after).Int(LimitOf(limit)); });
}

Result<std::vector<Trigger>> ReadDueTriggers(Database& database, const DueCursor& after,
                                             std::int64_t until, std::size_t limit) {
  return ReadAll<Trigger>(
      database,
      "SELECT record, dropped FROM trigger_row INDEXED BY trigger_due"
      " WHERE due > 0 AND (due, name) > (?, ?) AND due <= ? ORDER BY due, name LIMIT ?",
      TriggerOf, [&](Statement& read) {
        read.Int(after.hour).Text(after.name).Int(until).Int(LimitOf(limit));
      });
}

Result<std::vector<Trigger>> ReadTriggersOf(Database& database,
                                            const std::vector<Snapshot::OpenRun>& runs) {
  std::set<std::string> names;
  for (const auto& open : runs)
    if (!open.run.trigger.empty()) names.insert(open.run.trigger);
  std::vector<Trigger> triggers;
  for (const auto& name : names) {
    auto found = ReadTrigger(database, name);
    if (!found) return Fail(found.error());
    if (*found) triggers.push_back(std::move(**found));
  }
  return triggers;
}

Result<TriggerCounts> ReadTriggerCounts(Database& database) {
  TriggerCounts counts;
  for (const auto state : kCounted) {
    const std::string name = MetaOf(state);
    const auto value = ReadOne<std::uint64_t>(
        database, "SELECT value FROM meta WHERE name = ?",
        [&](Statement& read) { read.Text(name); },
        [](const Statement& row) -> Result<std::uint64_t> { return row.ColumnId(0); });
    if (!value) return Fail(value.error());
    if (!*value) return CountTriggers(database);
    counts.Of(state) = **value;
  }
  return counts;
}

Result<std::vector<SlotRecord>> ReadSlots(Database& database, std::string_view trigger,
                                          const SlotFilter& filter,
                                          std::optional<SlotCursor> before, std::size_t limit) {
  std::int64_t from = std::numeric_limits<std::int64_t>::min();
  if (filter.since) {
    auto first = FirstFrom(database, trigger, filter.since);
    if (!first) return Fail(first.error());
    from = *first;
  }
  constexpr std::int64_t kNoBound = std::numeric_limits<std::int64_t>::max();
  constexpr auto kLastFate = static_cast<std::int64_t>(SlotFate::kSchedule);
  const SlotCursor below = before.value_or(SlotCursor{.first = {kNoBound}});
  return ReadAll<SlotRecord>(
      database,
      "SELECT record FROM slot WHERE trigger_name = ? AND first >= ? AND first < ?"
      " AND (first, act) < (?, ?) AND fate BETWEEN ? AND ? AND last >= ?"
      " ORDER BY first DESC, act DESC LIMIT ?",
      SlotOf, [&](Statement& read) {
        read.Text(trigger).Int(from).Int(filter.until ? filter.until.ms : kNoBound);
        read.Int(below.first.ms).Id(below.act);
        read.Int(filter.fate ? static_cast<std::int64_t>(*filter.fate) : 0);
        read.Int(filter.fate ? static_cast<std::int64_t>(*filter.fate) : kLastFate);
        read.Int(filter.since ? filter.since.ms : from).Int(LimitOf(limit));
      });
}

Result<> RecordWriter::Put(const PutTrigger& put, Seen&) {
  const Trigger& trigger = put.trigger;
  const std::string record = records::EncodeTrigger(trigger);
  const std::string& name = trigger.spec.name;
  if (auto put_row = put_trigger_->Text(name).Int(trigger.dropped ? 1 : 0).Blob(record).Run();
      !put_row)
    return put_row;
  const std::int64_t due = DueHour(trigger);
  return put_trigger_due_->Int(due).Text(name).Int(due).Run();
}

Result<> RecordWriter::Put(const PutTriggerCounts& put, Seen&) {
  TriggerCounts counts = put.counts;
  for (const auto state : kCounted) {
    const std::string name = MetaOf(state);
    if (auto written = put_meta_->Text(name).Id(counts.Of(state)).Run(); !written) return written;
  }
  return {};
}

Result<> RecordWriter::Put(const PutSlot& put, Seen&) {
  const SlotRecord& slot = put.slot;
  const std::string record = records::EncodeSlot(slot);
  put_slot_->Text(slot.trigger).Int(slot.first.ms).Id(slot.act).Int(slot.last.ms);
  return put_slot_->Int(static_cast<std::int64_t>(slot.fate)).Int(slot.at.ms).Blob(record).Run();
}

Result<> RecordWriter::Put(const DropSlot& drop, Seen&) {
  return drop_slot_->Text(drop.trigger).Int(drop.first.ms).Id(drop.act).Run();
}

}  // namespace muster::sqlite
