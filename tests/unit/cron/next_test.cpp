#include "cron/next.hpp"

#include <gtest/gtest.h>

#include "cron/local_text.hpp"
#include "cron/zone_rule.hpp"

namespace muster::cron {
namespace {

using Lines = std::vector<std::string>;

const Zone& Named(const std::string& name) {
  static std::map<std::string, Zone> zones;
  const auto known = zones.find(name);
  if (known != zones.end()) return known->second;
  auto zone = LoadZone(name);
  EXPECT_TRUE(zone) << name;
  return zones.emplace(name, zone ? *zone : Zone::Utc()).first->second;
}

Schedule Of(std::string_view text, const ParseOptions& options = {}) {
  const auto schedule = Parse(text, options);
  EXPECT_TRUE(schedule) << text;
  return schedule.value_or(Schedule{});
}

Lines Times(std::string_view text, const std::string& zone_name, std::string_view from, int count,
            const ParseOptions& options = {}) {
  const auto schedule = Of(text, options);
  const Zone& zone = Named(zone_name);
  Lines lines;
  auto after = ParseLocal(zone, from).value_or(WallTime{});
  for (int i = 0; i < count; ++i) {
    const auto next = Next(schedule, zone, after);
    if (!next) break;
    // Backwards it is the same time.
    EXPECT_EQ(Prev(schedule, zone, *next + Duration(1)), next) << text;
    lines.push_back(FormatLocal(zone, *next));
    after = *next;
  }
  return lines;
}

std::string First(std::string_view text, std::string_view from, const ParseOptions& options = {}) {
  const auto times = Times(text, "UTC", from, 1, options);
  return times.empty() ? "never" : times[0];
}

TEST(CronNext, IsStrictlyAfter) {
  EXPECT_EQ(First("0 0 * * *", "2027-01-01"), "2027-01-02T00:00:00Z");
  EXPECT_EQ(First("0 0 * * *", "2026-12-31 23:59:59"), "2027-01-01T00:00:00Z");
  const auto daily = Of("0 0 * * *");
  EXPECT_EQ(Next(daily, Named("UTC"), {-1}), WallTime{0});
  EXPECT_EQ(Next(daily, Named("UTC"), {0}), WallTime{86'400'000});
  EXPECT_EQ(Prev(daily, Named("UTC"), {1}), WallTime{0});
  EXPECT_EQ(Prev(daily, Named("UTC"), {0}), WallTime{-86'400'000});
}

TEST(CronNext, EitherDayFieldWillDoWhenBothAreRestricted) {
  EXPECT_EQ(Times("0 0 13 * fri", "UTC", "2027-08-01", 4),
            Lines({"2027-08-06T00:00:00Z", "2027-08-13T00:00:00Z", "2027-08-20T00:00:00Z",
                   "2027-08-27T00:00:00Z"}));
  EXPECT_EQ(First("0 0 13 * fri", "2027-09-01", {.both_days = true}), "2028-10-13T00:00:00Z");
  EXPECT_EQ(First("0 3 30 * sat", "2027-01-01", {.both_days = true}), "2027-01-30T03:00:00Z");
}

TEST(CronNext, AStarredDayFieldRestrictsTheOtherAsInVixieCron) {
  EXPECT_EQ(First("0 0 */2 * mon", "2027-03-01"), "2027-03-15T00:00:00Z");
  EXPECT_EQ(First("0 0 1-31/2 * mon", "2027-03-01"), "2027-03-03T00:00:00Z");
}

TEST(CronNext, LastNearestAndNthDays) {
  EXPECT_EQ(First("0 0 L * *", "2028-02-01"), "2028-02-29T00:00:00Z");
  EXPECT_EQ(First("0 0 L-2 * *", "2027-02-01"), "2027-02-26T00:00:00Z");
  EXPECT_EQ(First("0 0 LW * *", "2027-02-01"), "2027-02-26T00:00:00Z");   // the 28th is a Sunday
  EXPECT_EQ(First("0 0 15W * *", "2027-05-01"), "2027-05-14T00:00:00Z");  // a Saturday
  EXPECT_EQ(First("0 0 15W * *", "2027-08-01"), "2027-08-16T00:00:00Z");  // a Sunday
  EXPECT_EQ(First("0 0 1W * *", "2027-04-30"), "2027-05-03T00:00:00Z");   // not into April
  EXPECT_EQ(First("0 0 31W * *", "2027-10-01"), "2027-10-29T00:00:00Z");  // not into November
  EXPECT_EQ(First("0 0 31W 4,5 *", "2027-04-01"), "2027-05-31T00:00:00Z");
  EXPECT_EQ(First("0 0 * * friL", "2027-04-01"), "2027-04-30T00:00:00Z");
  EXPECT_EQ(First("0 0 * * 5#5", "2027-02-01"), "2027-04-30T00:00:00Z");
  EXPECT_EQ(First("0 0 * * mon#1,wed#3", "2027-04-06"), "2027-04-21T00:00:00Z");
}

TEST(CronNext, RareDaysAreFoundAndImpossibleOnesEnd) {
  EXPECT_EQ(First("0 0 29 2 *", "2097-01-01"), "2104-02-29T00:00:00Z");
  EXPECT_EQ(First("0 0 29 2 mon", "2072-03-01", {.both_days = true}), "2112-02-29T00:00:00Z");
  EXPECT_EQ(First("0 0 31 2 *", "2027-01-01"), "never");
  EXPECT_EQ(First("0 0 1 1 *", "9998-06-01"), "9999-01-01T00:00:00Z");
  EXPECT_EQ(First("0 0 1 1 *", "9999-06-01"), "never");
  const auto daily = Of("0 0 * * *");
  EXPECT_FALSE(Next(daily, Named("UTC"), {INT64_MAX}));
  EXPECT_TRUE(Next(daily, Named("UTC"), {INT64_MIN}));
  EXPECT_FALSE(Prev(daily, Named("UTC"), {INT64_MIN}));
  EXPECT_TRUE(Prev(daily, Named("UTC"), {INT64_MAX}));
}

TEST(CronNext, RareDaysAreFoundAcrossManyClockChanges) {
  EXPECT_EQ(Times("30 * 29 2 *", "Europe/Berlin", "2096-02-29T22:45", 2),
            Lines({"2096-02-29T23:30:00+01:00", "2104-02-29T00:30:00+01:00"}));
  // Days of a clock change that are also rare: a Sunday the 31st of October.
  EXPECT_EQ(Times("30 */2 31 10 sun", "Europe/Berlin", "2027-10-31T00:45", 2, {.both_days = true}),
            Lines({"2027-10-31T02:30:00+02:00", "2027-10-31T02:30:00+01:00"}));
  EXPECT_EQ(Times("30 2 31 10 sun", "Europe/Berlin", "2027-11-01", 2,
                  {.both_days = true, .fold = FoldRule::kBoth}),
            Lines({"2032-10-31T02:30:00+02:00", "2032-10-31T02:30:00+01:00"}));
}

TEST(CronNext, YearsFarAheadKeepTheRuleOfTheZone) {
  EXPECT_EQ(First("0 12 * 7 *", "5000-01-01"), "5000-07-01T12:00:00Z");
  EXPECT_EQ(Times("30 2 * * *", "Europe/Berlin", "4427-03-27T12:00", 2),
            Lines({"4427-03-28T03:00:00+02:00", "4427-03-29T02:30:00+02:00"}));
  EXPECT_EQ(Times("30 2 * * *", "Europe/Berlin", "2499-12-31T12:00", 1),
            Lines({"2500-01-01T02:30:00+01:00"}));
}

TEST(CronNext, EveryKeepsItsGridWhateverTheClockDoes) {
  EXPECT_EQ(First("@every 90s", "1970-01-01T00:00:00Z"), "1970-01-01T00:01:30Z");
  EXPECT_EQ(First("@every 1h", "2027-03-28T00:10:00Z"), "2027-03-28T01:00:00Z");
  const ParseOptions anchored{.anchor = {7000}};
  EXPECT_EQ(First("@every 1m", "1970-01-01T00:00:00Z", anchored), "1970-01-01T00:00:07Z");
  EXPECT_EQ(Times("@every 30m", "Europe/Berlin", "2027-03-28T01:10:00+01:00", 3),
            Lines({"2027-03-28T01:30:00+01:00", "2027-03-28T03:00:00+02:00",
                   "2027-03-28T03:30:00+02:00"}));
}

TEST(CronGap, AFixedTimeRunsAtTheFirstMomentAfterTheJump) {
  EXPECT_EQ(Times("30 2 * * *", "Europe/Berlin", "2027-03-27T00:00:00Z", 3),
            Lines({"2027-03-27T02:30:00+01:00", "2027-03-28T03:00:00+02:00",
                   "2027-03-29T02:30:00+02:00"}));
  EXPECT_EQ(Times("15 2 * * *", "Australia/Lord_Howe", "2027-10-02T12:00", 2),
            Lines({"2027-10-03T02:30:00+11:00", "2027-10-04T02:15:00+11:00"}));
  // A whole day that Samoa left out.
  EXPECT_EQ(Times("0 12 * * *", "Pacific/Apia", "2011-12-29T13:00", 2),
            Lines({"2011-12-31T00:00:00+14:00", "2011-12-31T12:00:00+14:00"}));
}

TEST(CronGap, ManyTimesInTheGapAreOneSlot) {
  EXPECT_EQ(Times("*/5 2,3 * * *", "Europe/Berlin", "2027-03-28T00:00", 2),
            Lines({"2027-03-28T03:00:00+02:00", "2027-03-28T03:05:00+02:00"}));
}

TEST(CronGap, SkipLeavesItOut) {
  EXPECT_EQ(
      Times("30 2 * * *", "Europe/Berlin", "2027-03-27T00:00:00Z", 2, {.gap = GapRule::kSkip}),
      Lines({"2027-03-27T02:30:00+01:00", "2027-03-29T02:30:00+02:00"}));
}

TEST(CronGap, SkipLeavesOutWhatEveryYearJumpsOver) {
  const auto rule = ParseZoneRule("EST5MDT,0,0");  // each year from 02:00 to 03:00 on 1 January
  ASSERT_TRUE(rule);
  const WallTime begun{1'800'000'000'000};
  std::vector<ZoneChange> changes;
  AddChanges(*rule, begun.ms / 1000, changes);
  const Zone zone("new year", rule->offset, changes);
  const auto skips = Of("0 2 1 1 *", {.gap = GapRule::kSkip});
  const auto years = [](std::int64_t count) { return Duration(count * 31'556'952'000); };
  // The changes are worked out for 500 years and repeat from there.
  for (const std::int64_t later : {0, 100, 480, 500, 4000}) {
    EXPECT_EQ(Next(skips, zone, begun + years(later)), std::nullopt) << later;
    EXPECT_EQ(Prev(skips, zone, begun + years(later)), WallTime{1'798'786'800'000})
        << later << " years after the last time without a jump";
  }
  const auto next = Next(Of("0 2 1 1 *"), zone, begun + years(500));
  ASSERT_TRUE(next);
  EXPECT_LT(*next, begun + years(501));
}

TEST(CronGap, OpenHoursFollowTheClock) {
  EXPECT_EQ(Times("30 * * * *", "Europe/Berlin", "2027-03-28T00:45", 2),
            Lines({"2027-03-28T01:30:00+01:00", "2027-03-28T03:30:00+02:00"}));
  EXPECT_EQ(Times("0 */2 * * *", "Europe/Berlin", "2027-03-28T00:00", 1),
            Lines({"2027-03-28T04:00:00+02:00"}));
}

TEST(CronFold, AFixedTimeRunsOnce) {
  EXPECT_EQ(Times("30 2 * * *", "Europe/Berlin", "2027-10-30T12:00", 2),
            Lines({"2027-10-31T02:30:00+02:00", "2027-11-01T02:30:00+01:00"}));
  EXPECT_EQ(Times("30 1 * * *", "America/New_York", "2027-11-06T12:00", 2),
            Lines({"2027-11-07T01:30:00-04:00", "2027-11-08T01:30:00-05:00"}));
  EXPECT_EQ(Times("45 1 * * *", "Australia/Lord_Howe", "2027-04-03T12:00", 2),
            Lines({"2027-04-04T01:45:00+11:00", "2027-04-05T01:45:00+10:30"}));
}

TEST(CronFold, BothRunsItTwice) {
  EXPECT_EQ(Times("30 2 * * *", "Europe/Berlin", "2027-10-30T12:00", 3, {.fold = FoldRule::kBoth}),
            Lines({"2027-10-31T02:30:00+02:00", "2027-10-31T02:30:00+01:00",
                   "2027-11-01T02:30:00+01:00"}));
  EXPECT_EQ(Times("30 2 * * *", "Europe/Berlin", "2027-03-27T12:00", 1, {.fold = FoldRule::kBoth}),
            Lines({"2027-03-28T03:00:00+02:00"}));
}

TEST(CronFold, OpenHoursFollowTheClock) {
  EXPECT_EQ(Times("30 * * * *", "Europe/Berlin", "2027-10-31T01:45", 3),
            Lines({"2027-10-31T02:30:00+02:00", "2027-10-31T02:30:00+01:00",
                   "2027-10-31T03:30:00+01:00"}));
}

struct Seen {
  std::string at;
  SlotKind kind;
  std::string nominal;
  std::uint32_t count;
  friend bool operator==(const Seen&, const Seen&) = default;
};

std::vector<Seen> SlotsOf(std::string_view text, const std::string& zone_name,
                          std::string_view from, std::string_view until,
                          const ParseOptions& options = {}) {
  const Zone& zone = Named(zone_name);
  std::vector<Seen> seen;
  VisitSlots(Of(text, options), zone, *ParseLocal(zone, from), *ParseLocal(zone, until),
             [&](const Slot& slot) {
               seen.push_back({FormatLocal(zone, slot.at), slot.kind, FormatReading(slot.nominal),
                               slot.count});
               return true;
             });
  return seen;
}

TEST(CronSlots, TellWhatAClockChangeDid) {
  EXPECT_EQ(SlotsOf("10,40 2 * * *", "Europe/Berlin", "2027-03-28", "2027-03-29 02:10"),
            (std::vector<Seen>{
                {"2027-03-28T03:00:00+02:00", SlotKind::kShifted, "2027-03-28T02:10:00", 2},
                {"2027-03-29T02:10:00+02:00", SlotKind::kDue, "2027-03-29T02:10:00", 1}}));
  EXPECT_EQ(
      SlotsOf("30 2 * * *", "Europe/Berlin", "2027-03-28", "2027-03-28 12:00",
              {.gap = GapRule::kSkip}),
      (std::vector<Seen>{{"2027-03-28T03:00:00+02:00", SlotKind::kGap, "2027-03-28T02:30:00", 1}}));
  EXPECT_EQ(
      SlotsOf("0 2,3 * * *", "Europe/Berlin", "2027-03-28", "2027-03-28 12:00"),
      (std::vector<Seen>{{"2027-03-28T03:00:00+02:00", SlotKind::kGap, "2027-03-28T02:00:00", 1},
                         {"2027-03-28T03:00:00+02:00", SlotKind::kDue, "2027-03-28T03:00:00", 1}}));
  EXPECT_EQ(SlotsOf("30 2 * * *", "Europe/Berlin", "2027-10-31", "2027-10-31 12:00"),
            (std::vector<Seen>{
                {"2027-10-31T02:30:00+02:00", SlotKind::kDue, "2027-10-31T02:30:00", 1},
                {"2027-10-31T02:30:00+01:00", SlotKind::kFold, "2027-10-31T02:30:00", 1}}));
  EXPECT_EQ(SlotsOf("0 */2 * * *", "Europe/Berlin", "2027-03-28 00:00", "2027-03-28 05:00").size(),
            1U);
}

TEST(CronSlots, EndWhenTheVisitorHasEnoughAndCrossCenturies) {
  const auto yearly = Of("@yearly");
  int seen = 0;
  VisitSlots(yearly, Named("UTC"), {0}, {INT64_MAX}, [&seen](const Slot&) { return ++seen < 5; });
  EXPECT_EQ(seen, 5);
  seen = 0;
  VisitSlots(yearly, Named("UTC"), {0}, {INT64_MAX}, [&seen](const Slot&) { return ++seen > 0; });
  EXPECT_EQ(seen, 9999 - 1970);
}

}  // namespace
}  // namespace muster::cron
