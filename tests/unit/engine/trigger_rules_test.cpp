#include "unit/engine/trigger_fixture.hpp"

namespace muster::engine {
namespace {

// What was missed, and what overlaps.
using TriggerRules = TriggerFixture;

TEST_F(TriggerRules, MissedLatestMakesUpForTheLastOne) {
  Apply(Spec("hourly", "0 * * * *"));
  Away(4 * kHour + 30 * kMinute);
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00-11:00 3 missed", "12:00 started"}));
}

TEST_F(TriggerRules, MissedLatestGivesWayToOneThatIsDueNow) {
  Apply(Spec("hourly", "0 * * * *"));
  Away(4 * kHour);
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00-11:00 3 missed", "12:00 started"}));
}

TEST_F(TriggerRules, MissedSkipMakesUpForNothing) {
  TriggerSpec spec = Spec("hourly", "0 * * * *");
  spec.missed = MissedRule::kSkip;
  Apply(spec);
  Away(3 * kHour + 30 * kMinute);
  Pass(kHour);
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00-11:00 3 missed", "12:00 started"}));
}

TEST_F(TriggerRules, MissedAllRunsOneAfterTheOtherUpToItsNumber) {
  TriggerSpec spec = Spec("hourly", "0 * * * *");
  spec.missed = MissedRule::kAll;
  spec.missed_most = 3;
  Apply(spec);
  run_for_ = 5 * kMinute;
  Away(5 * kHour + 30 * kMinute);
  EXPECT_EQ(OpenRuns(), 1U);
  Pass(20 * kMinute);
  EXPECT_EQ(Ledger("hourly"),
            (Lines{"09:00-10:00 2 missed", "11:00 started", "12:00 started", "13:00 started"}));
}

TEST_F(TriggerRules, MissedOutsideTheWindowIsNotMadeUpFor) {
  TriggerSpec spec = Spec("hourly", "0 * * * *");
  spec.missed = MissedRule::kAll;
  spec.missed_window = 2 * kHour;
  Apply(spec);
  Away(5 * kHour + 30 * kMinute);
  Pass(kMinute);
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00-11:00 3 missed", "12:00 started", "13:00 started"}));
}

TEST_F(TriggerRules, ManyMissedAreCountedAtOnce) {
  TriggerSpec spec = Spec("often", "* * * * * *");
  spec.missed = MissedRule::kSkip;
  Apply(spec);
  Away(8 * kHour);
  ASSERT_FALSE(Ledger("often").empty());
  const auto rows = *store_.ListSlots("often", {}, {}, 10'000);
  std::uint64_t counted = 0;
  for (const auto& row : rows) counted += row.count;
  EXPECT_EQ(counted, 8U * 3600);
  const SlotRecord& first = rows.at(rows.size() - 2);  // the last is the schedule
  EXPECT_EQ(first.why, "missed");
  EXPECT_GT(first.count, 28'000U);
}

TEST_F(TriggerRules, MissedSlotsTellTheChannel) {
  TriggerSpec spec = Spec("hourly", "0 * * * *");
  spec.channel = "ops";
  Apply(spec);
  Pass(kHour + kMinute);
  EXPECT_TRUE(server_orders_.empty());
  Away(4 * kHour);
  ASSERT_EQ(server_orders_.size(), 1U);
  const auto& order = server_orders_.front();
  EXPECT_EQ(order.state, "missed");
  EXPECT_EQ(std::get<NotifyAction>(order.what).channel, "ops");
  EXPECT_NE(std::get<NotifyAction>(order.what).message.find("trigger hourly: 3 slots"),
            std::string::npos);
  EXPECT_EQ(store_.Load(pipeline_->term())->notices.size(), 1U);
  ServerReport report{.task = order.task, .end = {}};
  report.end.state = TaskState::kSucceeded;
  Tell(report);
  Serve();
  EXPECT_TRUE(store_.Load(pipeline_->term())->notices.empty());
}

TEST_F(TriggerRules, ErrorForGoodTellsTheChannel) {
  TriggerSpec spec = Spec("hourly", "0 * * * *");
  spec.channel = "ops";
  Apply(spec);
  plan_ = [](const PrepareSlot&) -> Result<SlotPlan> {
    return Fail(ErrorCode::kNotFound, "there is no job 'backup'");
  };
  Pass(3 * kHour);
  ASSERT_EQ(server_orders_.size(), 1U);
  EXPECT_EQ(server_orders_.front().state, "error");
}

TEST_F(TriggerRules, OverlapSkipLeavesOutWhatComesDue) {
  Apply(Spec("hourly", "0 * * * *"));
  run_for_ = 150 * kMinute;
  Pass(4 * kHour + kMinute);
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00 started", "10:00-11:00 2 overlap", "12:00 started"}));
}

TEST_F(TriggerRules, OverlapQueueWaitsForTheEnd) {
  TriggerSpec spec = Spec("hourly", "0 * * * *");
  spec.overlap = OverlapRule::kQueue;
  Apply(spec);
  run_for_ = 90 * kMinute;
  Pass(2 * kHour + 10 * kMinute);
  EXPECT_EQ(Ledger("hourly"), Lines{"09:00 started"});
  Pass(30 * kMinute);
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00 started", "10:00 started"}));
  EXPECT_EQ(OpenRuns(), 1U);
}

TEST_F(TriggerRules, QueuedSlotSurvivesTheServerAndIsNotMissed) {
  TriggerSpec spec = Spec("hourly", "0 * * * *");
  spec.overlap = OverlapRule::kQueue;
  spec.missed = MissedRule::kSkip;
  Apply(spec);
  run_for_ = 100 * kMinute;
  Pass(2 * kHour + 10 * kMinute);
  Away(20 * kMinute);
  Pass(10 * kMinute);
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00 started", "10:00 started"}));
}

TEST_F(TriggerRules, QueueIsBoundedAndKeepsTheLatest) {
  TriggerSpec spec = Spec("hourly", "0 * * * *");
  spec.overlap = OverlapRule::kQueue;
  spec.queue_most = 2;
  Apply(spec);
  run_for_ = 10 * kHour;
  Pass(5 * kHour + kMinute);
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00 started", "10:00-11:00 2 overlap"}));
  EXPECT_EQ(Row("hourly").next, At(12));
  EXPECT_EQ(Row("hourly").seen, At(13));
}

TEST_F(TriggerRules, OverlapReplaceBeginsOnlyWhenTheOldRunHasEnded) {
  AddHosts(1);
  TriggerSpec spec = Spec("hourly", "0 * * * *");
  spec.overlap = OverlapRule::kReplace;
  Apply(spec);
  plan_ = [this](const PrepareSlot&) -> Result<SlotPlan> {
    SlotPlan plan = WaitPlan();
    plan.spec.stages = {Named("work")};
    return plan;
  };
  Pass(kHour);
  ASSERT_EQ(Sent(), Hosts{1});
  const auto first = orders_.front().task;
  Report(1, link::ReportKind::kStarted, first);
  Pass(kHour);
  EXPECT_EQ(Ledger("hourly"), Lines{"09:00 started"});
  EXPECT_EQ(TakeKills(), std::vector<TaskKey>{first});
  EXPECT_EQ(OpenRuns(), 1U);
  End(first, TaskState::kKilled);
  Serve();
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00 started", "10:00 started"}));
  EXPECT_EQ(Find(first.run).state, RunState::kCancelled);
}

TEST_F(TriggerRules, OverlapAllowIsANumber) {
  TriggerSpec spec = Spec("hourly", "0 * * * *");
  spec.overlap = OverlapRule::kAllow;
  spec.overlap_allowed = 2;
  Apply(spec);
  run_for_ = 150 * kMinute;
  Pass(4 * kHour + kMinute);
  EXPECT_EQ(Ledger("hourly"),
            (Lines{"09:00 started", "10:00 started", "11:00 overlap", "12:00 started"}));
}

TEST_F(TriggerRules, DeadlineEndsWhatWaitsTooLong) {
  TriggerSpec spec = Spec("hourly", "0 * * * *");
  spec.overlap = OverlapRule::kQueue;
  spec.deadline = 10 * kMinute;
  Apply(spec);
  run_for_ = 80 * kMinute;
  Pass(2 * kHour + 12 * kMinute);
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00 started", "10:00 deadline"}));
}

TEST_F(TriggerRules, PausedRunCountsAsOpen) {
  Apply(Spec("hourly", "0 * * * *"));
  run_for_ = 30 * kMinute;
  Pass(kHour + kMinute);
  ASSERT_TRUE(Do(
      PauseRun{.caller = {}, .run = Row("hourly").last_run, .release = false, .reason = "wait"}));
  Pass(kHour);
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00 started", "10:00 overlap"}));
}

TEST_F(TriggerRules, FrozenSlotIsSkipped) {
  Apply(Spec("hourly", "0 * * * *"));
  muster::Freeze freeze;
  freeze.scope = FreezeScope::kTriggers;
  freeze.until = At(10, 30);
  ASSERT_TRUE(Asked(FreezeRuns{.caller = {}, .freeze = freeze}));
  Pass(3 * kHour + kMinute);
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00-10:00 2 frozen", "11:00 started"}));
}

TEST_F(TriggerRules, ClosedGateIsTriedAgain) {
  Apply(Spec("hourly", "0 * * * *"));
  Tell(SetGate{.gate = "disk_low", .reason = "no room"});
  Pass(kHour + std::chrono::seconds(15));
  EXPECT_EQ(Ledger("hourly"), Lines{});
  EXPECT_EQ(Row("hourly").error, "no room");
  Tell(SetGate{.gate = "disk_low", .reason = ""});
  Pass(kMinute);
  EXPECT_EQ(Ledger("hourly"), Lines{"09:00 started"});
  EXPECT_EQ(Row("hourly").error, "");
}

TEST_F(TriggerRules, GateThatStaysClosedEndsTheSlot) {
  Apply(Spec("daily", "0 9 * * *"));
  Tell(SetGate{.gate = "disk_low", .reason = "no room"});
  Pass(2 * kHour);
  EXPECT_EQ(Ledger("daily"), Lines{"09:00 limit"});
}

TEST_F(TriggerRules, PassingErrorIsTriedAgainAndThenEndsTheSlotOnly) {
  Apply(Spec("hourly", "0 * * * *"));
  bool broken = true;
  plan_ = [&](const PrepareSlot&) -> Result<SlotPlan> {
    if (broken) return Fail(ErrorCode::kUnavailable, "the store is busy");
    return WaitPlan();
  };
  Pass(kHour + 30 * kMinute);
  EXPECT_EQ(Ledger("hourly"), Lines{"09:00 error"});
  EXPECT_EQ(State("hourly"), TriggerState::kRunnable);
  broken = false;
  Pass(kHour);
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00 error", "10:00 started"}));
}

TEST_F(TriggerRules, ErrorForGoodStopsTheTriggerUntilItIsResumed) {
  Apply(Spec("hourly", "0 * * * *"));
  bool broken = true;
  plan_ = [&](const PrepareSlot&) -> Result<SlotPlan> {
    if (broken) return Fail(ErrorCode::kNotFound, "there is no job 'backup'");
    return WaitPlan();
  };
  Pass(3 * kHour + 30 * kMinute);
  EXPECT_EQ(Ledger("hourly"), Lines{"09:00 error"});
  EXPECT_EQ(State("hourly"), TriggerState::kError);
  EXPECT_EQ(Row("hourly").error, "there is no job 'backup'");
  broken = false;
  ASSERT_TRUE(Steer(ResumeTrigger{}, "hourly"));
  Pass(kHour);
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00-11:00 3 error", "12:00 started"}));
}

TEST_F(TriggerRules, PlanThatCouldNotBeReadBackIsAnErrorForGood) {
  Apply(Spec("hourly", "0 * * * *"));
  muster::Command command;
  command.script = std::string(1 << 20, '#');
  const auto shared = std::make_shared<const muster::Command>(std::move(command));
  plan_ = [&](const PrepareSlot&) -> Result<SlotPlan> {
    SlotPlan plan = WaitPlan();
    plan.spec.stages.resize(65);
    for (auto& stage : plan.spec.stages) stage.action = shared;
    return plan;
  };
  Pass(2 * kHour + 30 * kMinute);
  EXPECT_EQ(Ledger("hourly"), Lines{"09:00 error"});
  EXPECT_EQ(State("hourly"), TriggerState::kError);
}

TEST_F(TriggerRules, ErrorForGoodEndsWhenItIsAppliedAnew) {
  TriggerSpec spec = Spec("hourly", "0 * * * *");
  Apply(spec);
  plan_ = [this](const PrepareSlot& slot) -> Result<SlotPlan> {
    if (slot.version == 1) return Fail(ErrorCode::kInvalid, "there is no parameter 'size'");
    return WaitPlan();
  };
  Pass(3 * kHour + 30 * kMinute);
  spec.params["level"] = "2";
  Apply(spec);
  EXPECT_EQ(State("hourly"), TriggerState::kRunnable);
  Pass(kHour);
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00-11:00 3 error", "12:00 started"}));
}

TEST_F(TriggerRules, UnknownZoneIsAnErrorForGood) {
  TriggerSpec spec = Spec("hourly", "0 * * * *");
  spec.tz = "Mars/Olympus";
  Apply(spec);
  EXPECT_EQ(State("hourly"), TriggerState::kError);
  EXPECT_NE(Row("hourly").error.find("Mars/Olympus"), std::string::npos);
}

TEST_F(TriggerRules, ClockJumpForwardFollowsMissed) {
  Apply(Spec("hourly", "0 * * * *"));
  Pass(30 * kMinute);
  JumpClock(3 * kHour);
  Pass(kMinute);
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00-10:00 2 missed", "11:00 started"}));
}

TEST_F(TriggerRules, ClockJumpBackStartsNothingTwice) {
  Apply(Spec("hourly", "0 * * * *"));
  Pass(2 * kHour + kMinute);
  JumpClock(-2 * kHour);
  Pass(3 * kHour);
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00 started", "10:00 started", "11:00 started"}));
}

TEST_F(TriggerRules, RestoreSkipsTheLostInterval) {
  Apply(Spec("hourly", "0 * * * *"));
  Pass(kHour + kMinute);
  const WallTime taken = now_.wall;
  auto backup = CopyOf(*disk_, std::nullopt, {});
  Pass(3 * kHour);
  const WallTime at = now_.wall;
  disk_ = CopyOf(*backup, Snapshot::Restored{.taken = taken, .at = at, .logs = false},
                 LeapOf(0, taken, at));
  store_ = MemoryStore(disk_);
  Restart();
  Pass(kHour);
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00 started", "10:00-12:00 3 restored", "13:00 started"}));
}

}  // namespace
}  // namespace muster::engine
