#include "unit/engine/trigger_fixture.hpp"

namespace muster::engine {
namespace {

using Triggers = TriggerFixture;

TEST_F(Triggers, StartARunForEachSlot) {
  Apply(Spec("hourly", "0 * * * *"));
  EXPECT_EQ(Row("hourly").next, At(9));
  Pass(2 * kHour + kMinute);
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00 started", "10:00 started"}));
  const Trigger row = Row("hourly");
  EXPECT_EQ(row.mark, At(10));
  EXPECT_EQ(row.next, At(11));
  EXPECT_EQ(row.started, 2U);
  const muster::Run run = Find(row.last_run);
  EXPECT_EQ(run.trigger, "hourly");
  EXPECT_EQ(run.slot, At(10));
  EXPECT_EQ(run.by, "(trigger hourly)");
  EXPECT_EQ(run.state, RunState::kSucceeded);
  EXPECT_EQ(State("hourly"), TriggerState::kRunnable);
}

TEST_F(Triggers, SlotRunAndMarkAreOneBatch) {
  Apply(Spec("hourly", "0 * * * *"));
  answers_ = false;
  Pass(kHour);
  ASSERT_EQ(slots_.size(), 1U);
  Fire(slots_.front());  // decided, and on its way to the store
  ASSERT_TRUE(held_);
  bool run = false;
  bool slot = false;
  bool mark = false;
  for (const auto& change : held_->batch->changes) {
    run = run || std::holds_alternative<PutRun>(change);
    slot = slot || std::holds_alternative<PutSlot>(change);
    if (const auto* put = std::get_if<PutTrigger>(&change)) mark = put->trigger.mark == At(9);
  }
  EXPECT_TRUE(run && slot && mark);
}

TEST_F(Triggers, CrashBetweenPlanAndCommitLosesAndDoublesNothing) {
  Apply(Spec("hourly", "0 * * * *"));
  answers_ = false;
  Pass(kHour);
  Fire(slots_.front());
  answers_ = true;
  Restart();  // the batch never reached the store
  EXPECT_EQ(Ledger("hourly"), Lines{"09:00 started"});
  Restart();
  EXPECT_EQ(Ledger("hourly"), Lines{"09:00 started"});
}

TEST_F(Triggers, PlanThatDoesNotComeIsAskedForAgain) {
  Apply(Spec("hourly", "0 * * * *"));
  answers_ = false;
  Pass(kHour);
  ASSERT_EQ(slots_.size(), 1U);
  const PrepareSlot first = slots_.front();
  slots_.clear();
  Pass(options_.ask_again + std::chrono::seconds(1));
  ASSERT_EQ(slots_.size(), 1U);
  EXPECT_EQ(slots_.front().slot, first.slot);
  Fire(slots_.front());
  Fire(first);  // late, and harmless
  slots_.clear();
  Serve();
  EXPECT_EQ(Ledger("hourly"), Lines{"09:00 started"});
}

TEST_F(Triggers, OnlyThoseDueWithinTheHourAreInMemory) {
  Apply(Spec("soon", "0 9 * * *"));
  Apply(Spec("later", "0 20 * * *"));
  const auto& entries = pipeline_->engine()->state().triggers.entries;
  EXPECT_TRUE(entries.empty());
  Pass(55 * kMinute);
  EXPECT_TRUE(entries.contains("soon"));
  EXPECT_FALSE(entries.contains("later"));
  Pass(20 * kHour);
  EXPECT_EQ(Ledger("soon"), Lines{"09:00 started"});
  EXPECT_EQ(Ledger("later"), Lines{"20:00 started"});
  EXPECT_TRUE(pipeline_->engine()->state().triggers.entries.empty());
}

TEST_F(Triggers, ManyComeInPages) {
  options_.most_things = 10;
  Restart();
  for (int i = 0; i < 35; ++i) Apply(Spec(fmt::format("t{:02}", i), "0 9 * * *"));
  Pass(kHour + kMinute);
  for (int i = 0; i < 35; ++i)
    EXPECT_EQ(Ledger(fmt::format("t{:02}", i)), Lines{"09:00 started"}) << i;
}

TEST_F(Triggers, EveryCountsFromItsApplication) {
  Pass(std::chrono::seconds(7));
  TriggerSpec spec = Spec("often", "");
  spec.every = 20 * kMinute;
  Apply(spec);
  Pass(45 * kMinute);
  EXPECT_EQ(Ledger("often"), (Lines{"08:20:07 started", "08:40:07 started"}));
}

TEST_F(Triggers, OnceIsCompleteAfterwards) {
  TriggerSpec spec = Spec("once", "");
  spec.once = At(9, 30);
  Apply(spec);
  EXPECT_EQ(State("once"), TriggerState::kRunnable);
  Pass(2 * kHour);
  EXPECT_EQ(Ledger("once"), Lines{"09:30 started"});
  EXPECT_EQ(State("once"), TriggerState::kComplete);
  EXPECT_EQ(DueHour(Row("once")), 0);
}

TEST_F(Triggers, StartAndEndAreBounds) {
  TriggerSpec spec = Spec("bounded", "0 * * * *");
  spec.start = At(10);
  spec.end = At(12);
  Apply(spec);
  Pass(6 * kHour);
  EXPECT_EQ(Ledger("bounded"), (Lines{"10:00 started", "11:00 started"}));
  EXPECT_EQ(State("bounded"), TriggerState::kComplete);
}

TEST_F(Triggers, ThatNeverFireAreComplete) {
  Apply(Spec("never", "0 0 31 2 *"));
  EXPECT_EQ(State("never"), TriggerState::kComplete);
  Pass(2 * kHour);
  EXPECT_EQ(Ledger("never"), Lines{});
}

TEST_F(Triggers, JitterIsStableAndBelowTheNextSlot) {
  TriggerSpec spec = Spec("shaken", "*/10 * * * *");
  spec.jitter = kHour;
  Apply(spec);
  Pass(kHour + 10 * kMinute);
  const auto rows = *store_.ListSlots("shaken", {}, {}, 100);
  ASSERT_GE(rows.size(), 6U);
  bool late = false;
  for (const auto& row : rows) {
    if (row.fate == SlotFate::kSchedule) continue;
    EXPECT_EQ(row.fate, SlotFate::kStarted);
    EXPECT_LT(row.at - row.first, 10 * kMinute + std::chrono::seconds(10));
    late = late || row.at - row.first > kMinute;
  }
  EXPECT_TRUE(late) << "none was moved";
}

TEST_F(Triggers, ClockChangeLeavesAGapOnRecord) {
  TriggerSpec spec = Spec("daily", "30 10 * * *");
  spec.tz = "Test/Jump";
  spec.gap = cron::GapRule::kSkip;
  Apply(spec);
  Pass(27 * kHour);
  EXPECT_EQ(Ledger("daily"), (Lines{"09:59:59 gap", "09:30 started"}));
}

TEST_F(Triggers, BlackoutSkipsItsSlots) {
  TriggerSpec spec = Spec("hourly", "0 * * * *");
  spec.blackouts = {{.cron = "30 9 * * *", .lasts = 2 * kHour}};
  Apply(spec);
  Pass(4 * kHour + kMinute);
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00 started", "10:00-11:00 2 blackout", "12:00 started"}));
}

TEST_F(Triggers, OnceOutsideItsBoundsIsNeverDue) {
  TriggerSpec spec = Spec("once", "");
  spec.once = At(9, 30);
  spec.start = At(10);
  Apply(spec);
  Pass(3 * kHour);
  EXPECT_EQ(Ledger("once"), Lines{});
  EXPECT_EQ(State("once"), TriggerState::kComplete);
}

TEST_F(Triggers, LedgerSaysWhichScheduleHeld) {
  Apply(Spec("hourly", "0 * * * *"));
  Pass(kHour + kMinute);
  TriggerSpec spec = Spec("hourly", "0 * * * *");
  spec.overlap = OverlapRule::kQueue;
  Apply(spec);  // the same slots
  spec.cron = "30 * * * *";
  Apply(spec);
  Pass(kHour);
  Drop("hourly");
  Apply(spec);
  EXPECT_EQ(Schedules("hourly"), (Lines{"08:00 v1", "09:01 v3", "10:01 v0 deleted", "10:01 v4"}));
}

TEST_F(Triggers, HundredsDueAtOnceAllStart) {
  for (int i = 0; i < 300; ++i) Apply(Spec(fmt::format("t{}", i), "0 9 * * *"));
  Pass(kHour + std::chrono::seconds(1));
  for (int i = 0; i < 300; ++i)
    EXPECT_EQ(Ledger(fmt::format("t{}", i)), Lines{"09:00 started"}) << i;
}

}  // namespace
}  // namespace muster::engine
