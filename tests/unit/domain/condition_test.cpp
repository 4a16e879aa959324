#include "domain/condition.hpp"

#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace muster {
namespace {

using std::chrono::minutes;

constexpr WallTime kNow{1'800'000'000'000};
constexpr WallTime At(int minute) { return {kNow.ms + minute * 60'000LL}; }

ConditionAction Above(double hold_minutes = 0) {
  ConditionAction action;
  action.bound = "0.9";
  action.hold = Duration(static_cast<std::int64_t>(hold_minutes * 60'000));
  return action;
}

ConditionVerdict Judge(const ConditionAction& action, const std::optional<std::string>& value,
                       const ConditionMemory& before, WallTime now) {
  const auto verdict = JudgeCondition(action, 0.9, value, before, now);
  EXPECT_TRUE(verdict) << verdict.error().message;
  return verdict.value_or(ConditionVerdict{});
}

TEST(Reading, TakesNumbersAsAnswersWriteThem) {
  const auto inf = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<std::string_view, double>> numbers = {
      {"93", 93},    {"-0.5", -0.5}, {" 0.93\n", 0.93}, {"1e3", 1000}, {"+7", 7},
      {"+Inf", inf}, {"-Inf", -inf}, {"true", 1},       {"false", 0},  {"0", 0}};
  for (const auto& [text, number] : numbers) EXPECT_EQ(ParseReading(text), number) << text;
}

TEST(Reading, RefusesEverythingElse) {
  for (const auto* text :
       {"",    " ",   "NaN", "nan",  "-nan", "1e999", "0x10", "1,5", "12%",   "1 2",
        "+-1", "++1", "--1", "null", "{}",   "[1]",   "True", "one", "1.2.3", "\xff"})
    EXPECT_FALSE(ParseReading(text)) << text;
  EXPECT_FALSE(ParseReading(std::string(1000, '1')));
  EXPECT_FALSE(ParseReading(std::string("1\0", 2)));
}

TEST(Condition, ComparesInSixWays) {
  using enum Comparison;
  const std::vector<std::tuple<Comparison, bool, bool, bool>> rows = {
      // with 1, 2 and 3 against 2
      {kAbove, false, false, true}, {kBelow, true, false, false},  {kAtLeast, false, true, true},
      {kAtMost, true, true, false}, {kEquals, false, true, false}, {kDiffers, true, false, true}};
  for (const auto& [comparison, one, two, three] : rows) {
    EXPECT_EQ(Compare(comparison, 1, 2), one) << Name(comparison);
    EXPECT_EQ(Compare(comparison, 2, 2), two) << Name(comparison);
    EXPECT_EQ(Compare(comparison, 3, 2), three) << Name(comparison);
  }
}

TEST(Condition, FiresAtOnceWithoutATimeToHold) {
  const auto verdict = Judge(Above(), "0.93", {}, At(0));
  EXPECT_EQ(verdict, (ConditionVerdict{"0.93", ConditionState::kFiring, true, At(0)}));
}

TEST(Condition, WaitsUntilItHasHeld) {
  ConditionMemory memory;
  for (const int minute : {0, 4, 9}) {
    const auto verdict = Judge(Above(10), "0.93", memory, At(minute));
    EXPECT_EQ(verdict, (ConditionVerdict{"0.93", ConditionState::kPending, false, At(0)}));
    memory = MemoryAfter(memory, verdict, true);
  }
  const auto fires = Judge(Above(10), "0.95", memory, At(10));
  EXPECT_EQ(fires, (ConditionVerdict{"0.95", ConditionState::kFiring, true, At(0)}));
  memory = MemoryAfter(memory, fires, true);
  const auto still = Judge(Above(10), "0.95", memory, At(11));
  EXPECT_EQ(still, (ConditionVerdict{"0.95", ConditionState::kFiring, false, At(0)}));
  const auto back = Judge(Above(10), "0.5", memory, At(12));
  EXPECT_EQ(back, (ConditionVerdict{"0.5", ConditionState::kOk, true, At(0)}));
  EXPECT_EQ(MemoryAfter(memory, back, true), ConditionMemory{});
}

TEST(Condition, BeginsAnewAfterADip) {
  const ConditionMemory pending{ConditionState::kPending, At(0)};
  const auto dip = Judge(Above(10), "0.9", pending, At(5));
  EXPECT_EQ(dip, (ConditionVerdict{"0.9", ConditionState::kOk, false, {}}));
  const auto again = Judge(Above(10), "1", MemoryAfter(pending, dip, true), At(11));
  EXPECT_EQ(again.state, ConditionState::kPending);
  EXPECT_EQ(again.since, At(11));
}

TEST(Condition, ClockThatWasSetBackBeginsAnew) {
  const ConditionMemory pending{ConditionState::kPending, At(60)};
  EXPECT_EQ(Judge(Above(10), "1", pending, At(0)).since, At(0));
  const ConditionMemory firing{ConditionState::kFiring, At(60)};
  const auto still = Judge(Above(10), "1", firing, At(0));
  EXPECT_EQ(still, (ConditionVerdict{"1", ConditionState::kFiring, false, At(0)}));
}

TEST(Condition, MissingValueIsAnErrorUnlessToldOtherwise) {
  const ConditionMemory firing{ConditionState::kFiring, At(0)};
  for (const std::optional<std::string>& none :
       {std::optional<std::string>(), std::optional<std::string>(" "),
        std::optional<std::string>("NaN"), std::optional<std::string>("-nan")}) {
    ConditionAction action = Above();
    const auto error = JudgeCondition(action, 0.9, none, firing, At(5));
    ASSERT_FALSE(error);
    EXPECT_EQ(error.error().code, ErrorCode::kInvalid);
    action.missing = MissingValue::kOk;
    EXPECT_EQ(Judge(action, none, firing, At(5)).state, ConditionState::kOk);
    EXPECT_TRUE(Judge(action, none, firing, At(5)).changed);
    action.missing = MissingValue::kFiring;
    EXPECT_EQ(Judge(action, none, {}, At(5)).state, ConditionState::kFiring);
    action.hold = minutes(1);
    EXPECT_EQ(Judge(action, none, {}, At(5)).state, ConditionState::kPending);
  }
}

TEST(Condition, ValueThatIsNoNumberIsAlwaysAnError) {
  ConditionAction action = Above();
  for (const auto missing : {MissingValue::kError, MissingValue::kOk, MissingValue::kFiring}) {
    action.missing = missing;
    for (const std::string& value : {std::string("high"), std::string("[1]"), std::string(500, '9'),
                                     std::string("\xff\x00", 2)}) {
      const auto verdict = JudgeCondition(action, 0.9, value, {}, At(0));
      ASSERT_FALSE(verdict) << value;
      EXPECT_EQ(verdict.error().code, ErrorCode::kInvalid);
      EXPECT_EQ(verdict.error().message.find('\xff'), std::string::npos);
      EXPECT_LT(verdict.error().message.size(), 200U);
    }
  }
}

TEST(Condition, ChangeThatNobodyActedOnIsFoundAgain) {
  const auto fires = Judge(Above(), "1", {}, At(0));
  const ConditionMemory unheard = MemoryAfter({}, fires, false);
  const auto again = Judge(Above(), "1", unheard, At(5));
  EXPECT_EQ(again, (ConditionVerdict{"1", ConditionState::kFiring, true, At(0)}));
  // It fell before anybody was told that it fires: there is nothing to take back.
  EXPECT_FALSE(Judge(Above(), "0", unheard, At(5)).changed);

  const ConditionMemory firing{ConditionState::kFiring, At(0)};
  const auto back = Judge(Above(), "0", firing, At(10));
  EXPECT_EQ(MemoryAfter(firing, back, false), firing);
}

TEST(Condition, MemoryComesBackFromTheData) {
  CarriedData data{{"cursor", "17"}};
  for (const auto state : {ConditionState::kPending, ConditionState::kFiring}) {
    const ConditionMemory memory{state, At(3)};
    WriteMemory(data, "disk", memory);
    EXPECT_EQ(ReadMemory(data, "disk"), memory);
    EXPECT_EQ(ReadMemory(data, "load"), ConditionMemory{});
  }
  WriteMemory(data, "disk", {});
  EXPECT_EQ(data, (CarriedData{{"cursor", "17"}}));
}

TEST(Condition, DataThatCannotBeReadIsNoMemory) {
  for (const CarriedData& data :
       {CarriedData{{"condition.disk.state", "firing"}},
        CarriedData{{"condition.disk.since", FormatTime(At(0))}},
        CarriedData{{"condition.disk.state", "on fire"},
                    {"condition.disk.since", FormatTime(At(0))}},
        CarriedData{{"condition.disk.state", "firing"}, {"condition.disk.since", "yesterday"}}})
    EXPECT_EQ(ReadMemory(data, "disk"), ConditionMemory{});
}

// Whatever comes, in any order: what was acted on alternates, and nothing fires that has not held.
TEST(Condition, ChangesAlternateAndHeldLongEnough) {
  std::mt19937_64 random(7);
  for (int history = 0; history < 200; ++history) {
    const ConditionAction action = Above(static_cast<double>(random() % 20));
    ConditionMemory memory;
    bool told = false;  // that it fires
    WallTime rose{};    // zero: it does not hold
    WallTime now = kNow;
    for (int check = 0; check < 100; ++check) {
      now = now + Duration(static_cast<std::int64_t>(random() % 600'000));
      const bool high = random() % 3 != 0;
      const bool acted = random() % 4 != 0;
      if (!high) rose = {};
      if (high && !rose) rose = now;
      const auto verdict = Judge(action, high ? "1" : "0", memory, now);
      EXPECT_EQ(verdict.state != ConditionState::kOk, high);
      if (verdict.state == ConditionState::kFiring && verdict.changed) {
        EXPECT_FALSE(told);
        EXPECT_GE(now - rose, action.hold);
        told = told || acted;
      } else if (verdict.changed) {
        EXPECT_TRUE(told);
        told = told && !acted;
      }
      memory = MemoryAfter(memory, verdict, acted);
    }
  }
}

}  // namespace
}  // namespace muster
