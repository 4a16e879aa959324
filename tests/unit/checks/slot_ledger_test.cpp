#include "checks/slot_ledger.hpp"

#include <gtest/gtest.h>

namespace muster::checks {
namespace {

using Kind = SlotFinding::Kind;

// An hourly trigger since 08:00 and its ledger of four hours; each test spoils one thing.
class SlotLedger : public testing::Test {
 protected:
  SlotLedger() {
    history_.trigger.spec.name = "hourly";
    history_.trigger.spec.cron = "0 * * * *";
    history_.trigger.version = 1;
    history_.trigger.applied = At(8, 0);
    history_.trigger.mark = At(12);
    history_.since = At(8);
    history_.until = At(12, 30);
    history_.now = At(12, 30);
    Schedule(At(8), 1);
    Start(At(9), 1);
    Skip(At(10), At(11), 2, "missed");
    Start(At(12), 2);
    history_.runs = {{RunId(2), At(12)}, {RunId(1), At(9)}};
    specs_[1] = history_.trigger.spec;
  }

  static WallTime At(int hour, int minute = 0) {
    return {1'800'000'000'000 + ((hour - 8) * 60 + minute) * 60'000LL};
  }
  SlotRecord& Add(SlotRecord row) {
    row.trigger = "hourly";
    history_.rows.push_back(std::move(row));
    return history_.rows.back();
  }
  SlotRecord& Start(WallTime slot, std::uint64_t run) {
    return Add({.trigger = {}, .first = slot, .last = slot, .run = RunId(run), .at = slot});
  }
  SlotRecord& Skip(WallTime first, WallTime last, std::uint32_t count, std::string why) {
    return Add({.trigger = {},
                .first = first,
                .last = last,
                .count = count,
                .fate = SlotFate::kSkipped,
                .why = std::move(why)});
  }
  SlotRecord& Schedule(WallTime from, std::uint32_t version) {
    return Add({.trigger = {},
                .first = from,
                .last = from,
                .act = 1ULL << 62,
                .count = 0,
                .fate = SlotFate::kSchedule,
                .at = from,
                .version = version});
  }
  void Sort() {
    std::ranges::sort(history_.rows, {},
                      [](const SlotRecord& row) { return std::pair(row.first.ms, row.act); });
  }

  SlotReport Check() {
    auto report = CheckSlots(
        history_, {.spec = [this](std::uint32_t version) -> Result<TriggerSpec> {
                     const auto found = specs_.find(version);
                     if (found == specs_.end())
                       return Fail(ErrorCode::kNotFound, "no such version");
                     return found->second;
                   },
                   .zone =
                       [](const std::string& name) {
                         auto zone = cron::LoadZone(name);
                         return zone ? std::make_shared<const cron::Zone>(*zone) : nullptr;
                       }});
    if (report) return *report;
    ADD_FAILURE() << report.error().message;
    return {};
  }
  // "lost 10:00 1"
  std::vector<std::string> Findings() {
    std::vector<std::string> lines;
    for (const auto& finding : Check().findings)
      lines.push_back(fmt::format("{} {} {}", Name(finding.kind),
                                  FormatTime(finding.first).substr(11, 5), finding.count));
    return lines;
  }
  using Lines = std::vector<std::string>;

  SlotHistory history_;
  std::map<std::uint32_t, TriggerSpec> specs_;
};

TEST_F(SlotLedger, WholeOneIsCounted) {
  const SlotReport report = Check();
  EXPECT_EQ(report.due, 4U);
  EXPECT_EQ(report.started, 2U);
  EXPECT_EQ(report.skipped, (std::map<std::string, std::uint64_t>{{"missed", 2}}));
  EXPECT_EQ(report.waiting, 0U);
  EXPECT_TRUE(report.findings.empty());
}

TEST_F(SlotLedger, RowThatIsGoneIsLost) {
  history_.rows.erase(history_.rows.begin() + 1);
  history_.runs.pop_back();
  EXPECT_EQ(Findings(), (Lines{"lost 09:00 1"}));
}

TEST_F(SlotLedger, NeighboursThatAreLostAreOneFinding) {
  history_.rows.erase(history_.rows.begin() + 2);
  EXPECT_EQ(Findings(), (Lines{"lost 10:00 2"}));
}

TEST_F(SlotLedger, RowThatCountsTooFewLosesOne) {
  history_.rows[2].count = 1;
  EXPECT_EQ(Findings(), (Lines{"lost 10:00 1"}));
}

TEST_F(SlotLedger, RowThatCountsTooManyIsStray) {
  history_.rows[2].count = 3;
  EXPECT_EQ(Findings(), (Lines{"stray 10:00 1"}));
}

TEST_F(SlotLedger, SlotThatWasNotDueIsStray) {
  Start(At(9, 30), 3);
  Sort();
  EXPECT_EQ(Findings(), (Lines{"stray 09:30 1"}));
}

TEST_F(SlotLedger, RowsOverTheSameTimeAreDoubled) {
  Start(At(11), 3);
  Sort();
  EXPECT_EQ(Findings()[0], "doubled 11:00 1");
}

TEST_F(SlotLedger, SecondRunOfASlotIsDoubled) {
  history_.runs.push_back({RunId(7), At(9)});
  EXPECT_EQ(Findings(), (Lines{"doubled 09:00 1"}));
}

TEST_F(SlotLedger, RunForASkippedSlotIsDoubled) {
  history_.runs.push_back({RunId(7), At(10)});
  EXPECT_EQ(Findings(), (Lines{"doubled 10:00 1"}));
}

TEST_F(SlotLedger, WhatPeopleStartedIsBesideIt) {
  SlotRecord& fired = Start(At(9), 7);
  fired.act = 40;
  history_.runs.push_back({RunId(7), At(9)});
  Sort();
  const SlotReport report = Check();
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.by_hand, 1U);
}

TEST_F(SlotLedger, WhatARunAskedForIsBesideIt) {
  Start(At(9, 20), 7).asked = true;
  Sort();
  const SlotReport report = Check();
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.asked, 1U);
}

TEST_F(SlotLedger, AfterTheMarkSlotsWait) {
  history_.until = history_.now = At(13, 1);
  const SlotReport report = Check();
  EXPECT_EQ(report.waiting, 1U);
  EXPECT_TRUE(report.findings.empty());
}

TEST_F(SlotLedger, SlotThatNothingHoldsBackIsOverdue) {
  history_.until = history_.now = At(14, 30);
  EXPECT_EQ(Findings(), (Lines{"overdue 13:00 2"}));
  history_.open = true;
  EXPECT_EQ(Findings(), Lines{});
  history_.open = false;
  history_.trigger.paused = true;
  EXPECT_EQ(Findings(), Lines{});
}

TEST_F(SlotLedger, EachScheduleCountsForItsTime) {
  // From 10:30 on every half hour.
  specs_[2] = specs_[1];
  specs_[2].cron = "*/30 * * * *";
  history_.rows.resize(2);
  Skip(At(10), At(10), 1, "missed");
  Schedule(At(10, 30), 2);
  Skip(At(11), At(12), 3, "missed");
  history_.runs.resize(0);
  const SlotReport report = Check();
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.due, 5U);
}

TEST_F(SlotLedger, NothingIsDueWhileThereIsNoSchedule) {
  history_.rows.resize(2);
  Schedule(At(9, 30), 0);
  Schedule(At(11, 30), 1);
  Start(At(12), 2);
  EXPECT_EQ(Findings(), Lines{});
  EXPECT_EQ(Check().due, 2U);
}

TEST_F(SlotLedger, RowThatReachesIntoThePeriodCountsAsAWhole) {
  history_.since = At(10, 30);
  history_.rows.erase(history_.rows.begin(), history_.rows.begin() + 2);
  history_.runs.resize(1);
  history_.trigger.applied = At(8);
  EXPECT_EQ(Findings(), Lines{});
  EXPECT_EQ(Check().due, 3U);
}

TEST_F(SlotLedger, WhatNobodyKnowsTheScheduleOfIsNotChecked) {
  history_.since = At(0);
  SlotRecord old = history_.rows[1];
  old.first = old.last = At(7, 15);
  history_.rows.insert(history_.rows.begin(), old);
  history_.trigger.applied = At(8);
  const SlotReport report = Check();
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.checked_from, WallTime{At(8).ms + 1});
}

TEST_F(SlotLedger, GapsAreOnRecord) {
  // 02:30 is jumped over on 2027-03-28 in Berlin; 03:00 there is 01:00 UTC.
  TriggerSpec& spec = history_.trigger.spec;
  spec.cron = "30 2 * * *";
  spec.tz = "Europe/Berlin";
  spec.gap = cron::GapRule::kSkip;
  specs_[1] = spec;
  const WallTime change = ParseTime("2027-03-28T01:00:00Z");
  history_.since = change + std::chrono::hours(-20);
  history_.until = history_.now = change + std::chrono::hours(20);
  history_.trigger.applied = history_.since;
  history_.trigger.mark = history_.until;
  history_.rows.clear();
  history_.runs.clear();
  EXPECT_EQ(Findings(), (Lines{"lost 00:59 1"}));
  Skip({change.ms - 1}, {change.ms - 1}, 1, "gap");
  EXPECT_EQ(Findings(), Lines{});
}

TEST_F(SlotLedger, DocumentThatIsNotKeptIsAnError) {
  specs_.clear();
  const auto report = CheckSlots(
      history_, {.spec = [](std::uint32_t) -> Result<TriggerSpec> {
                   return Fail(ErrorCode::kNotFound, "not kept");
                 },
                 .zone = [](const std::string&) { return std::shared_ptr<const cron::Zone>(); }});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message, "not kept");
}

TEST_F(SlotLedger, VeryManyDueTimesEndWhenTheCallerHasEnough) {
  history_.rows.clear();
  history_.runs.clear();
  history_.trigger.spec.cron.clear();
  history_.trigger.spec.every = std::chrono::seconds(1);
  history_.trigger.paused = true;
  history_.until = ParseTime("9999-12-31T00:00:00Z");  // some 10^11 of them
  int asked = 0;
  const auto report =
      CheckSlots(history_, {.spec = {},
                            .zone =
                                [](const std::string& name) {
                                  auto zone = cron::LoadZone(name);
                                  return zone ? std::make_shared<const cron::Zone>(*zone) : nullptr;
                                },
                            .go_on = [&asked]() -> Result<> {
                              if (++asked < 3) return {};
                              return Fail(ErrorCode::kTimeout, "enough");
                            }});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace muster::checks
