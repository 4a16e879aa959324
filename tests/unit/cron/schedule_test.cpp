#include "cron/schedule.hpp"

#include <bit>
#include <vector>

#include <gtest/gtest.h>

#include "cron/local_search.hpp"

namespace muster::cron {
namespace {

Schedule Parsed(std::string_view text, const ParseOptions& options = {.seed = "nightly"}) {
  const auto schedule = Parse(text, options);
  EXPECT_TRUE(schedule) << text << ": " << (schedule ? "" : schedule.error().message);
  return schedule.value_or(Schedule{});
}

std::vector<int> Members(std::uint64_t mask) {
  std::vector<int> members;
  for (int i = 0; i < 64; ++i)
    if (mask >> i & 1) members.push_back(i);
  return members;
}

using Values = std::vector<int>;

TEST(CronParse, ReadsValuesListsRangesAndSteps) {
  EXPECT_EQ(Members(Parsed("5 * * * *").minutes), Values({5}));
  EXPECT_EQ(Members(Parsed("1,3-5,50-59/4 * * * *").minutes), Values({1, 3, 4, 5, 50, 54, 58}));
  EXPECT_EQ(Members(Parsed("*/20 * * * *").minutes), Values({0, 20, 40}));
  EXPECT_EQ(Members(Parsed("7/20 * * * *").minutes), Values({7, 27, 47}));
  EXPECT_EQ(Members(Parsed("0 0-23/8 * * *").hours), Values({0, 8, 16}));
  EXPECT_EQ(Members(Parsed("0 0 * 2,jun-aug *").months), Values({2, 6, 7, 8}));
  EXPECT_EQ(Members(Parsed("\t0  0 * * MON-Fri ").day_fields.weekdays), Values({1, 2, 3, 4, 5}));
}

TEST(CronParse, ARangeThatRunsBackwardsGoesOnFromTheStart) {
  EXPECT_EQ(Members(Parsed("0 22-2 * * *").hours), Values({0, 1, 2, 22, 23}));
  EXPECT_EQ(Members(Parsed("0 22-4/3 * * *").hours), Values({1, 4, 22}));
  EXPECT_EQ(Members(Parsed("0 0 * nov-feb *").months), Values({1, 2, 11, 12}));
  EXPECT_EQ(Members(Parsed("0 0 30-2 * *").day_fields.days), Values({1, 2, 30, 31}));
}

TEST(CronParse, SundayIsZeroAndSeven) {
  EXPECT_EQ(Members(Parsed("0 0 * * 7").day_fields.weekdays), Values({0}));
  EXPECT_EQ(Members(Parsed("0 0 * * 5-7").day_fields.weekdays), Values({0, 5, 6}));
  EXPECT_EQ(Members(Parsed("0 0 * * fri-sun").day_fields.weekdays), Values({0, 5, 6}));
  EXPECT_EQ(Members(Parsed("0 0 * * 7-2").day_fields.weekdays), Values({0, 1, 2}));
  EXPECT_EQ(Members(Parsed("0 0 * * 0-7").day_fields.weekdays), Values({0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(Members(Parsed("0 0 * * 1-7/2").day_fields.weekdays), Values({0, 1, 3, 5}));
}

TEST(CronParse, SixFieldsBeginWithSeconds) {
  const auto six = Parsed("*/30 5 4 * * ?");
  EXPECT_TRUE(six.has_seconds);
  EXPECT_EQ(Members(six.seconds), Values({0, 30}));
  EXPECT_EQ(Members(six.minutes), Values({5}));
  EXPECT_EQ(Members(Parsed("5 4 * * *").seconds), Values({0}));
}

TEST(CronParse, MacrosAreTheExpressionsTheyStandFor) {
  const auto same = [](std::string_view macro, std::string_view text) {
    const auto a = Parsed(macro);
    const auto b = Parsed(text);
    return a.minutes == b.minutes && a.hours == b.hours && a.months == b.months &&
           a.month_days == b.month_days;
  };
  EXPECT_TRUE(same("@hourly", "0 * * * *"));
  EXPECT_TRUE(same("@daily", "0 0 * * *"));
  EXPECT_TRUE(same("@midnight", "0 0 * * *"));
  EXPECT_TRUE(same("@Weekly", "0 0 * * sun"));
  EXPECT_TRUE(same("@monthly", "0 0 1 * *"));
  EXPECT_TRUE(same("@yearly", "0 0 1 1 *"));
  EXPECT_TRUE(same("@annually", "0 0 1 1 *"));
  EXPECT_EQ(Parsed("@every 1h30m").every, 5400);
}

TEST(CronParse, HashIsStableAndDependsOnSeedAndField) {
  // These values are a promise: a change would move everybody's schedules.
  EXPECT_EQ(StableHash("nightly", "minute") % 60, 8U);
  EXPECT_EQ(StableHash("nightly", "hour") % 24, 6U);
  EXPECT_EQ(Members(Parsed("H H * * *").minutes), Values({8}));
  EXPECT_EQ(Members(Parsed("? H * * *").minutes), Values({8}));
  EXPECT_EQ(Members(Parsed("H H * * *").hours), Values({6}));
  EXPECT_NE(StableHash("nightly", "minute"), StableHash("nightly2", "minute"));
}

TEST(CronParse, HashStaysWithinItsRangeAndStep) {
  for (const std::string_view seed : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    const ParseOptions options{.seed = seed};
    const auto ranged = Members(Parsed("H(10-19) * * * *", options).minutes);
    ASSERT_EQ(ranged.size(), 1U);
    EXPECT_TRUE(ranged[0] >= 10 && ranged[0] <= 19);
    const auto stepped = Members(Parsed("H/15 * * * *", options).minutes);
    ASSERT_EQ(stepped.size(), 4U);
    EXPECT_LT(stepped[0], 15);
    EXPECT_EQ(stepped[3] - stepped[0], 45);
    const auto both = Members(Parsed("H(30-59)/10 * * * *", options).minutes);
    ASSERT_EQ(both.size(), 3U);
    EXPECT_GE(both[0], 30);
    const auto day = Members(Parsed("0 0 H * *", options).day_fields.days);
    ASSERT_EQ(day.size(), 1U);
    EXPECT_LE(day[0], 28);
  }
}

TEST(CronParse, OpenHoursFollowTheClock) {
  for (const auto* text : {"0 * * * *", "0 */2 * * *", "0 0-23 * * *", "0 H/3 * * *", "@hourly"})
    EXPECT_TRUE(Parsed(text).follows_clock) << text;
  for (const auto* text : {"0 2 * * *", "* 2 * * *", "0 0-20/2 * * *", "0 H * * *", "@daily"})
    EXPECT_FALSE(Parsed(text).follows_clock) << text;
}

TEST(CronParse, NeverIsKnown) {
  for (const auto* text : {"0 0 31 2 *", "0 0 30W feb *", "0 0 31 4,6,9,11 *"})
    EXPECT_TRUE(Parsed(text).never) << text;
  EXPECT_FALSE(Parsed("0 0 29 2 *").never);
  EXPECT_TRUE(Parsed("0 0 1-7 * 1L", {.both_days = true}).never);
  EXPECT_FALSE(Parsed("0 0 29 2 mon", {.both_days = true}).never);
}

struct Wrong {
  std::string_view text;
  std::size_t column;
};

TEST(CronParse, MistakesPointAtTheCharacter) {
  constexpr Wrong kWrong[] = {
      {"", 1},
      {"* * * *", 8},
      {"* * * * * * 1969", 13},
      {"* * * * * * 2027-2026", 18},
      {"* * * * * * 2027,", 18},
      {"* * * * * * 2027 *", 18},
      {"* * * * * * jan", 13},
      {"5-10/60 * * * *", 6},
      {"0 0 29-LW * *", 9},
      {"0 0 +1 * *", 5},
      {"60 * * * *", 1},
      {"1,2,60 * * * *", 5},
      {"0 24 * * *", 3},
      {"0 0 0 * *", 5},
      {"0 0 32 * *", 5},
      {"0 0 * 13 *", 7},
      {"0 0 * * 8", 9},
      {"0 0 * foo *", 7},
      {"0 0 * * mond", 12},
      {"*/0 * * * *", 3},
      {"*/61 * * * *", 3},
      {"*/ * * * *", 3},
      {"1- * * * *", 3},
      {"1,,2 * * * *", 3},
      {", * * * *", 1},
      {"1, * * * *", 3},
      {"5W * * * *", 2},
      {"0 0 L-31 * *", 7},
      {"0 0 L/2 * *", 6},
      {"0 0 * * L", 9},
      {"0 0 * * 1#6", 11},
      {"0 0 * * 1#", 11},
      {"0 0 * * 7/2", 9},
      {"0 0 15W-17 * *", 8},
      {"H(5) * * * *", 4},
      {"H(9-5) * * * *", 3},
      {"H(5-9 * * * *", 6},
      {"0 0 1 * 1,?", 11},
      {"0 12 ? * mon", 6},
      {"0 12 1 * ?", 10},
      {"? 0 12 * * mon", 1},
      {"0 0 12 ? * ?", 12},
      {"@reboot", 1},
      {"@sometimes", 1},
      {"@daily 5", 8},
      {"@every", 7},
      {"@every 5x", 8},
      {"@every 500ms", 8},
      {"@every 0s", 8},
      {"99999999999999999999 * * * *", 1},
      {"-1 * * * *", 1},
      {"\xc3\xa9 * * * *", 1},
  };
  for (const auto& wrong : kWrong) {
    const auto schedule = Parse(wrong.text, {.seed = "s"});
    ASSERT_FALSE(schedule) << wrong.text;
    EXPECT_EQ(schedule.error().column, wrong.column) << wrong.text << schedule.error().message;
    EXPECT_FALSE(schedule.error().message.empty()) << wrong.text;
  }
}

TEST(CronParse, SpellingsOfOtherSystems) {
  const auto same = [](std::string_view text, std::string_view other, ParseOptions options = {}) {
    EXPECT_EQ(Parsed(text).month_days, Parsed(other, options).month_days) << text;
  };
  same("0 0 * * mon#L", "0 0 * * monL");
  same("0 0 * * mon-wed#1", "0 0 * * mon#1,tue#1,wed#1");
  same("0 0 * * fri-mon#2", "0 0 * * fri#2,sat#2,sun#2,mon#2");
  same("0 0 L-0 * *", "0 0 L * *");
  same("0 0 L-0W * *", "0 0 LW * *");
  same("0 0 29-L * *", "0 0 29-31 * *");
  same("0 0 13 * +fri", "0 0 13 * fri", {.both_days = true});
  EXPECT_EQ(Members(Parsed("5-10/6 * * * *").minutes), Values({5}));
}

TEST(CronParse, SeventhFieldBoundsTheYears) {
  const auto schedule = Parsed("0 0 12 1 1 ? 2027-2031/2,2040");
  for (unsigned year = Years::kFirst; year <= Years::kLast; ++year)
    EXPECT_EQ(schedule.years.Has(year),
              year == 2027 || year == 2029 || year == 2031 || year == 2040)
        << year;
  EXPECT_FALSE(Parsed("0 0 12 1 1 ? *").has_years);
  EXPECT_TRUE(Parsed("0 0 12 29 2 ? 2027").never);
  EXPECT_EQ(*NextLocal(schedule, 0), *NextLocal(Parsed("0 0 12 1 1 ? 2027"), 0));
  const auto last = *PrevLocal(schedule, std::int64_t{200} * 366 * 86400);
  EXPECT_FALSE(NextLocal(schedule, last + 1));
}

TEST(CronParse, HashWithoutASeedIsAMistake) {
  for (const auto* text : {"H * * * *", "? * * * *", "0 H/2 * * *"})
    EXPECT_FALSE(Parse(text)) << text;
}

TEST(CronParse, VeryLongTextIsRefusedAtOnce) {
  std::string text = "0";
  while (text.size() < 5000) text += ",0";
  const auto schedule = Parse(text + " * * * *");
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.error().column, kMostText + 1);
}

}  // namespace
}  // namespace muster::cron
