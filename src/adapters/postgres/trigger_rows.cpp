#include "adapters/postgres/trigger_rows.hpp"

#include <limits>
#include <set>

#include "adapters/postgres/rows.hpp"
#include "adapters/records/records.hpp"

namespace muster::postgres {
namespace {

Result<Trigger> TriggerAt(const Row& row, int first) {
  auto trigger = records::DecodeTrigger(row.Bytes(first));
  if (trigger) trigger->dropped = row.Int(first + 1) != 0;
  return trigger;
}

Result<Trigger> TriggerOf(const Row& row) { return TriggerAt(row, 0); }

Result<TriggerCounts> CountTriggers(Connection& connection) {
  auto all = ReadAll<Trigger>(connection, "SELECT record, dropped FROM trigger_row", {}, TriggerOf);
  if (!all) return Fail(all.error());
  TriggerCounts counts;
  for (const auto& trigger : *all)
    if (const auto state = CountedAs(trigger)) ++counts.Of(*state);
  return counts;
}

}  // namespace

std::string CounterOf(TriggerState state) { return fmt::format("triggers_{}", Name(state)); }

Result<ReadAt<std::optional<Trigger>>> ReadTrigger(Connection& connection, std::string_view name) {
  return ReadOneAt<Trigger>(connection,
                            "SELECT f.number, t.record, t.dropped FROM fence f"
                            " LEFT JOIN trigger_row t ON t.name = ?",
                            Params().Bytes(name), [](const Row& row) { return TriggerAt(row, 1); });
}

Result<std::vector<Trigger>> ReadTriggers(Connection& connection, std::string_view after,
                                          std::size_t limit) {
  return ReadAll<Trigger>(connection,
                          "SELECT record, dropped FROM trigger_row WHERE name > ? AND dropped = 0"
                          " ORDER BY name LIMIT ?",
                          Params().Bytes(after).Int(LimitOf(limit)), TriggerOf);
}

Result<ReadAt<std::vector<Trigger>>> ReadDueTriggers(Connection& connection, const DueCursor& after,
                                                     std::int64_t until, std::size_t limit) {
  auto rows = connection.Ask(
      "SELECT f.number, d.record, d.dropped FROM fence f LEFT JOIN LATERAL ("
      "SELECT due, name, record, dropped FROM trigger_row"
      " WHERE due > 0 AND (due, name) > (?, ?) AND due <= ? ORDER BY due, name LIMIT ?) d ON true"
      " ORDER BY d.due, d.name",
      Params().Int(after.hour).Bytes(after.name).Int(until).Int(LimitOf(limit)));
  if (!rows) return Fail(rows.error());
  ReadAt<std::vector<Trigger>> found;
  for (int i = 0; i < rows->Count(); ++i) {
    const Row row = rows->At(i);
    found.commit = CommitNumber(row.Id(0));
    if (row.IsNull(1)) break;
    auto trigger = TriggerAt(row, 1);
    if (!trigger) return Fail(trigger.error());
    found.value.push_back(std::move(*trigger));
  }
  return found;
}

Result<std::vector<Trigger>> ReadTriggersOf(Connection& connection,
                                            const std::vector<Snapshot::OpenRun>& runs) {
  std::set<std::string> names;
  for (const auto& open : runs)
    if (!open.run.trigger.empty()) names.insert(open.run.trigger);
  Params params;
  AddStrings(params, std::vector<std::string>(names.begin(), names.end()));
  return ReadAll<Trigger>(connection,
                          "SELECT t.record, t.dropped FROM unnest(?) AS w (name)"
                          " JOIN trigger_row t ON t.name = w.name ORDER BY t.name",
                          params, TriggerOf);
}

Result<TriggerCounts> ReadTriggerCounts(Connection& connection) {
  TriggerCounts counts;
  for (const auto state : kCountedStates) {
    const auto value = ReadOne<std::uint64_t>(
        connection, "SELECT number FROM meta WHERE name = ?", Params().Bytes(CounterOf(state)),
        [](const Row& row) -> Result<std::uint64_t> { return row.Id(0); });
    if (!value) return Fail(value.error());
    if (!*value) return CountTriggers(connection);
    counts.Of(state) = **value;
  }
  return counts;
}

Result<std::vector<SlotRecord>> ReadSlots(Connection& connection, std::string_view trigger,
                                          const SlotFilter& filter,
                                          std::optional<SlotCursor> before, std::size_t limit) {
  constexpr std::int64_t kNoBound = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kNoSince = std::numeric_limits<std::int64_t>::min();
  constexpr auto kLastFate = static_cast<std::int64_t>(SlotFate::kSchedule);
  const SlotCursor below = before.value_or(SlotCursor{.first = {kNoBound}});
  const std::int64_t since = filter.since ? filter.since.ms : kNoSince;
  const auto fate = filter.fate ? static_cast<std::int64_t>(*filter.fate) : -1;
  // A row that began before `since` may reach into it; rows of the schedule do not overlap, so it
  // can only be the last of those.
  return ReadAll<SlotRecord>(
      connection,
      "SELECT record FROM slot WHERE trigger_name = ? AND first >= coalesce(("
      "SELECT CASE WHEN last >= ? THEN first END FROM slot WHERE trigger_name = ? AND first < ?"
      " AND act = 0 ORDER BY first DESC LIMIT 1), ?) AND first < ?"
      " AND (first, act) < (?, ?) AND fate BETWEEN ? AND ? AND last >= ?"
      " ORDER BY first DESC, act DESC LIMIT ?",
      Params()
          .Bytes(trigger)
          .Int(since)
          .Bytes(trigger)
          .Int(since)
          .Int(since)
          .Int(filter.until ? filter.until.ms : kNoBound)
          .Int(below.first.ms)
          .Id(below.act)
          .Int(fate < 0 ? 0 : fate)
          .Int(fate < 0 ? kLastFate : fate)
          .Int(since)
          .Int(LimitOf(limit)),
      [](const Row& row) { return records::DecodeSlot(row.Bytes(0)); });
}

}  // namespace muster::postgres
