#include <limits>
#include <set>

#include "adapters/records/readers.hpp"
#include "adapters/records/records.hpp"
#include "adapters/records/row_values.hpp"
#include "adapters/records/rows.hpp"

namespace muster::records {
namespace {

Result<Trigger> TriggerAt(const Row& row, int first) {
  auto trigger = Decode<Trigger>(row.Bytes(first));
  if (trigger) trigger->dropped = row.Int(first + 1) != 0;
  return trigger;
}

Result<Trigger> TriggerOf(const Row& row) { return TriggerAt(row, 0); }

Result<TriggerCounts> CountTriggers(Queries& queries) {
  TriggerCounts counts;
  auto read =
      queries.Each("SELECT record, dropped FROM trigger_row", {}, [&](const Row& row) -> Result<> {
        const auto trigger = TriggerOf(row);
        if (!trigger) return Fail(trigger.error());
        if (const auto state = CountedAs(*trigger)) ++counts.Of(*state);
        return {};
      });
  if (!read) return Fail(read.error());
  return counts;
}

}  // namespace

Result<ReadAt<std::optional<Trigger>>> FindTrigger(Queries& queries, std::string_view name) {
  return ReadOneAt<Trigger>(queries,
                            "SELECT f.number, t.record, t.dropped FROM fence f"
                            " LEFT JOIN trigger_row t ON t.name = ?",
                            Values().Word(name), [](const Row& row) { return TriggerAt(row, 1); });
}

Result<std::vector<Trigger>> ListTriggers(Queries& queries, std::string_view after,
                                          std::size_t limit) {
  return ReadAll<Trigger>(queries,
                          "SELECT record, dropped FROM trigger_row WHERE name > ? AND dropped = 0"
                          " ORDER BY name LIMIT ?",
                          Values().Word(after).Int(LimitOf(limit)), TriggerOf);
}

Result<ReadAt<std::vector<Trigger>>> DueTriggers(Queries& queries, const DueCursor& after,
                                                 std::int64_t until, std::size_t limit) {
  ReadAt<std::vector<Trigger>> found;
  auto read = queries.Each(
      "SELECT f.number, d.record, d.dropped FROM fence f LEFT JOIN ("
      "SELECT due, name, record, dropped FROM trigger_row"
      " WHERE due > 0 AND (due, name) > (?, ?) AND due <= ? ORDER BY due, name LIMIT ?) d ON true"
      " ORDER BY d.due, d.name",
      Values().Int(after.hour).Word(after.name).Int(until).Int(LimitOf(limit)),
      [&](const Row& row) -> Result<> {
        found.commit = CommitNumber(row.Id(0));
        if (row.IsNull(1)) return {};
        auto trigger = TriggerAt(row, 1);
        if (!trigger) return Fail(trigger.error());
        found.value.push_back(std::move(*trigger));
        return {};
      });
  if (!read) return Fail(read.error());
  return found;
}

Result<std::vector<Trigger>> ListTriggersOf(Queries& queries,
                                            const std::vector<Snapshot::OpenRun>& runs) {
  std::set<std::string> names;
  for (const auto& open : runs)
    if (!open.run.trigger.empty()) names.insert(open.run.trigger);
  std::vector<Trigger> triggers;
  for (const auto& name : names) {
    auto trigger =
        ReadOne<Trigger>(queries, "SELECT record, dropped FROM trigger_row WHERE name = ?",
                         Values().Word(name), TriggerOf);
    if (!trigger) return Fail(trigger.error());
    if (*trigger) triggers.push_back(std::move(**trigger));
  }
  return triggers;
}

Result<TriggerCounts> ReadTriggerCounts(Queries& queries) {
  TriggerCounts counts;
  for (const auto state : kCountedStates) {
    const std::string name = TriggerCounter(state);
    const auto value = ReadOne<std::uint64_t>(
        queries, "SELECT number FROM meta WHERE name = ?", Values().Word(name),
        [](const Row& row) -> Result<std::uint64_t> { return row.Id(0); });
    if (!value) return Fail(value.error());
    if (!*value) return CountTriggers(queries);
    counts.Of(state) = **value;
  }
  return counts;
}

Result<std::vector<SlotRecord>> ListSlots(Queries& queries, std::string_view trigger,
                                          const SlotFilter& filter,
                                          std::optional<SlotCursor> before, std::size_t limit) {
  constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kNoSince = std::numeric_limits<std::int64_t>::min();
  constexpr auto kLastFate = static_cast<std::int64_t>(SlotFate::kSchedule);
  const SlotCursor below = before.value_or(SlotCursor{.first = {kNoEnd}});
  const std::int64_t since = filter.since ? filter.since.ms : kNoSince;
  const auto fate = filter.fate ? static_cast<std::int64_t>(*filter.fate) : -1;
  // A row that began before `since` may reach into it; rows of the schedule do not overlap, so it
  // can only be the last of those.
  return ReadAll<SlotRecord>(
      queries,
      "SELECT record FROM slot WHERE trigger_name = ? AND first >= coalesce(("
      "SELECT CASE WHEN last >= ? THEN first END FROM slot WHERE trigger_name = ? AND first < ?"
      " AND act = 0 ORDER BY first DESC LIMIT 1), ?) AND first < ?"
      " AND (first, act) < (?, ?) AND fate BETWEEN ? AND ? AND last >= ?"
      " ORDER BY first DESC, act DESC LIMIT ?",
      Values()
          .Word(trigger)
          .Int(since)
          .Word(trigger)
          .Int(since)
          .Int(since)
          .Int(filter.until ? filter.until.ms : kNoEnd)
          .Int(below.first.ms)
          .Id(below.act)
          .Int(fate < 0 ? 0 : fate)
          .Int(fate < 0 ? kLastFate : fate)
          .Int(since)
          .Int(LimitOf(limit)),
      RecordOf<SlotRecord>);
}

}  // namespace muster::records
