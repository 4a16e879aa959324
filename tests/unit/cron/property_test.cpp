#include <map>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "cron/local_text.hpp"
#include "cron/month_days.hpp"
#include "cron/next.hpp"

namespace muster::cron {
namespace {

// Clocks that change often and oddly, in whole minutes.
Zone RandomZone() {
  std::vector<ZoneChange> changes;
  std::int64_t at = 0;
  for (int i = 0; i < 4; ++i) {
    at += 60 * *rc::gen::inRange(1, 60 * 40);
    changes.push_back({at, 60 * *rc::gen::inRange(-14 * 4, 14 * 4) * 15});
  }
  return Zone("odd", 0, changes);
}

std::string RandomField(int low, int high) {
  const auto value = [&] { return *rc::gen::inRange(low, high + 1); };
  switch (*rc::gen::inRange(0, 6)) {
    case 0:
    case 1:
      return "*";
    case 2:
      return fmt::format("*/{}", *rc::gen::inRange(1, high - low + 1));
    case 3:
      return fmt::format("{}-{}", value(), value());
    case 4:
      return fmt::format("{},{}", value(), value());
    default:
      return fmt::format("{}", value());
  }
}

std::string RandomDay() {
  constexpr const char* kSpecial[] = {"L", "L-3", "1W", "LW", "31W", "L,15W"};
  return *rc::gen::inRange(0, 4) == 0 ? kSpecial[*rc::gen::inRange(0, 6)] : RandomField(1, 31);
}

std::string RandomWeekday() {
  constexpr const char* kSpecial[] = {"friL", "mon#1", "tue#5", "sun#2,wedL"};
  return *rc::gen::inRange(0, 4) == 0 ? kSpecial[*rc::gen::inRange(0, 4)] : RandomField(0, 7);
}

std::string RandomText() {
  return fmt::format("{} {} {} {} {}", RandomField(0, 59), RandomField(0, 23), RandomDay(),
                     *rc::gen::inRange(0, 3) == 0 ? RandomField(1, 12) : "*", RandomWeekday());
}

ParseOptions RandomOptions() {
  return {.seed = "s",
          .both_days = *rc::gen::arbitrary<bool>(),
          .gap = *rc::gen::arbitrary<bool>() ? GapRule::kFirst : GapRule::kSkip,
          .fold = *rc::gen::arbitrary<bool>() ? FoldRule::kOnce : FoldRule::kBoth};
}

bool IsDueOnTheClock(const Schedule& schedule, LocalSeconds reading) {
  const std::int64_t days = FloorDiv(reading, kDay);
  const Date date = DateOf(days);
  const auto time = reading - days * kDay;
  const unsigned first = WeekdayOf(DaysOf({date.year, date.month, 1}));
  const auto due = DaysDue(schedule.day_fields, first, LengthOf(date.year, date.month));
  return (schedule.months >> date.month & 1) && (due >> date.day & 1) &&
         (schedule.hours >> (time / 3600) & 1) && (schedule.minutes >> (time / 60 % 60) & 1) &&
         time % 60 == 0;
}

// The rule as the header says it, minute by minute: slow, and nothing like the search.
std::set<std::int64_t> DueByWatching(const Schedule& schedule, const Zone& zone, std::int64_t from,
                                     std::int64_t until) {
  std::set<std::int64_t> due;
  LocalSeconds reached = from - 60 + zone.OffsetAt({(from - 60) * 1000});
  for (std::int64_t now = from; now <= until; now += 60) {
    const LocalSeconds shown = now + zone.OffsetAt({now * 1000});
    const bool again = shown <= reached;
    const bool itself = IsDueOnTheClock(schedule, shown);
    const bool repeats = schedule.follows_clock || schedule.fold == FoldRule::kBoth;
    if (itself && (!again || repeats)) due.insert(now);
    if (!schedule.follows_clock && schedule.gap == GapRule::kFirst)
      for (LocalSeconds missed = reached + 60; missed < shown; missed += 60)
        if (IsDueOnTheClock(schedule, missed)) due.insert(now);
    reached = std::max(reached, shown);
  }
  return due;
}

TEST(CronProperty, SearchAgreesWithWatchingTheClock) {
  EXPECT_TRUE(rc::check("next, prev and slots are what a watcher sees", [] {
    const auto text = RandomText();
    const auto schedule = Parse(text, RandomOptions());
    RC_LOG() << text << "\n";
    RC_ASSERT(schedule);
    const auto zone = RandomZone();
    const std::int64_t from = -2 * kDay;
    const std::int64_t until = 9 * kDay;
    const auto due = DueByWatching(*schedule, zone, from, until);

    std::set<std::int64_t> by_next;
    auto at = Next(*schedule, zone, {from * 1000 - 1});
    for (; at && at->ms <= until * 1000; at = Next(*schedule, zone, *at))
      RC_ASSERT(by_next.insert(at->ms / 1000).second);  // or it would go on for ever
    RC_ASSERT(by_next == due);

    std::set<std::int64_t> by_prev;
    at = Prev(*schedule, zone, {until * 1000 + 1});
    for (; at && at->ms >= from * 1000; at = Prev(*schedule, zone, *at))
      RC_ASSERT(by_prev.insert(at->ms / 1000).second);
    RC_ASSERT(by_prev == due);

    std::set<std::int64_t> by_slots;
    VisitSlots(*schedule, zone, {from * 1000 - 1}, {until * 1000}, [&by_slots](const Slot& slot) {
      if (IsDue(slot.kind)) RC_ASSERT(by_slots.insert(slot.at.ms / 1000).second);
      return true;
    });
    RC_ASSERT(by_slots == due);
  }));
}

TEST(CronProperty, PrevUndoesNextInRealZones) {
  constexpr const char* kZones[] = {
      "UTC",          "Europe/Berlin",     "America/New_York", "Australia/Lord_Howe",
      "Pacific/Apia", "Africa/Casablanca", "Asia/Gaza"};
  std::vector<Zone> zones;
  for (const auto* name : kZones) zones.push_back(*LoadZone(name));
  EXPECT_TRUE(rc::check([&zones] {
    const auto schedule = Parse(RandomText(), RandomOptions());
    RC_ASSERT(schedule);
    const auto& zone =
        zones[static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(zones.size())))];
    const WallTime after{*rc::gen::inRange<std::int64_t>(-60'000'000'000'000, 250'000'000'000'000)};
    const auto next = Next(*schedule, zone, after);
    if (!next) return;
    RC_ASSERT(*next > after);
    RC_ASSERT(Prev(*schedule, zone, {next->ms + 1}) == next);
    const auto before = Prev(*schedule, zone, *next);
    RC_ASSERT(!before || *before <= after);
    // Between the two nothing is due.
    RC_ASSERT(Next(*schedule, zone, {after.ms + (next->ms - after.ms) / 2 - 1}) == next);
  }));
}

// What VisitSlots gives, put together: due slots that follow each other without a change.
struct Counted {
  std::uint64_t due = 0;
  std::uint64_t jumped = 0;  // times that a gap left out
  std::optional<WallTime> first;
  std::optional<WallTime> last;

  friend bool operator==(const Counted&, const Counted&) = default;
};

Counted CountOneByOne(const Schedule& schedule, const Zone& zone, WallTime after, WallTime until) {
  Counted counted;
  VisitSlots(schedule, zone, after, until, [&counted](const Slot& slot) {
    if (slot.kind == SlotKind::kGap) counted.jumped += slot.count;
    if (!IsDue(slot.kind)) return true;
    ++counted.due;
    if (!counted.first) counted.first = slot.at;
    counted.last = slot.at;
    return true;
  });
  return counted;
}

Counted CountStretches(const Schedule& schedule, const Zone& zone, WallTime after, WallTime until) {
  Counted counted;
  std::optional<WallTime> reached;
  VisitStretches(schedule, zone, after, until, [&](const Stretch& stretch) {
    RC_ASSERT(stretch.kind != SlotKind::kFold);
    RC_ASSERT(stretch.first <= stretch.last);
    RC_ASSERT(!reached || stretch.first >= *reached);
    reached = stretch.last;
    if (stretch.kind == SlotKind::kGap) {
      counted.jumped += stretch.count;
      return true;
    }
    counted.due += stretch.count;
    if (!counted.first) counted.first = stretch.first;
    counted.last = stretch.last;
    return true;
  });
  return counted;
}

TEST(CronProperty, StretchesAreTheSameSlotsCounted) {
  EXPECT_TRUE(rc::check("in zones of one's own", [] {
    const auto text = *rc::gen::arbitrary<bool>() ? RandomText() : "*/7 " + RandomText();
    const auto schedule = Parse(text, RandomOptions());
    RC_LOG() << text << "\n";
    RC_PRE(schedule.has_value());
    const auto zone = RandomZone();
    const WallTime after{*rc::gen::inRange<std::int64_t>(-3 * kDay * 1000, 2 * kDay * 1000)};
    const WallTime until{after.ms + *rc::gen::inRange<std::int64_t>(0, 9 * kDay * 1000)};
    RC_ASSERT(CountStretches(*schedule, zone, after, until) ==
              CountOneByOne(*schedule, zone, after, until));
  }));
  const Zone berlin = *LoadZone("Europe/Berlin");
  EXPECT_TRUE(rc::check("over years, and past those that are known", [&berlin] {
    const auto schedule = Parse(RandomText(), RandomOptions());
    RC_ASSERT(schedule);
    const WallTime after{*rc::gen::inRange<std::int64_t>(-2'000'000'000'000, 30'000'000'000'000)};
    const WallTime until{after.ms + *rc::gen::inRange<std::int64_t>(0, 200 * kDay * 1000)};
    RC_ASSERT(CountStretches(*schedule, berlin, after, until) ==
              CountOneByOne(*schedule, berlin, after, until));
  }));
  EXPECT_TRUE(rc::check("of a grid", [&berlin] {
    const auto every = *rc::gen::inRange(1, 100'000);
    const WallTime anchor{*rc::gen::inRange<std::int64_t>(-1'000'000'000, 1'000'000'000)};
    const auto schedule = Parse(fmt::format("@every {}s", every), {.anchor = anchor});
    RC_ASSERT(schedule);
    const WallTime after{*rc::gen::inRange<std::int64_t>(-1'000'000'000, 1'000'000'000)};
    const WallTime until{after.ms + *rc::gen::inRange<std::int64_t>(0, 20 * kDay * 1000)};
    RC_ASSERT(CountStretches(*schedule, berlin, after, until) ==
              CountOneByOne(*schedule, berlin, after, until));
  }));
}

}  // namespace
}  // namespace muster::cron
