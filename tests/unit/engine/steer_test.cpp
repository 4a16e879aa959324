#include "flow_fixture.hpp"

namespace muster::engine {
namespace {

class Steer : public FlowFixture {
 protected:
  Result<RunSteered> Pause(RunId run) {
    return Do(PauseRun{.caller = {}, .run = run, .release = false, .reason = "look"});
  }
  Result<RunSteered> Resume(RunId run) { return Do(ResumeRun{.caller = {}, .run = run}); }
  Result<RetryRun::Answer> Retry(RunId run, RetryRun retry = {}) {
    retry.run = run;
    retry.known = *store_.ReadWholeRun(run);
    return Do(std::move(retry));
  }
  static RetryRun From(std::string stage) {
    RetryRun retry;
    retry.from = std::move(stage);
    return retry;
  }
  std::vector<StageSpec> RollOfTwo(OnLimit on_limit = OnLimit::kPause) {
    return {Named("precheck"), Rolling("roll", "1,2", on_limit), In(1, "upgrade"), In(1, "verify")};
  }
};

TEST_F(Steer, APausedRunStartsNothingAndGoesOnWhereItStood) {
  AddHosts(2);
  const RunId run = StartJob(2, {Named("a"), Named("b")});
  Sent();
  EXPECT_TRUE(Pause(run));
  EndAll();
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_EQ(Find(run).state, RunState::kPaused);
  Crash();
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_TRUE(Resume(run));
  EXPECT_EQ(Sent(), (Hosts{1, 2}));
  EXPECT_EQ(StageNow(), "b");
  EXPECT_FALSE(Resume(run));
}

TEST_F(Steer, AWaitStandsStillWhileTheRunIsPaused) {
  AddHosts(1);
  const RunId run = StartJob(
      1, {With("sleep", WaitAction{.time = std::chrono::minutes(10), .until = {}}), Named("go")});
  Advance(std::chrono::minutes(4));
  EXPECT_TRUE(Pause(run));
  Advance(std::chrono::hours(24));
  EXPECT_TRUE(Resume(run));
  Advance(std::chrono::minutes(5));
  EXPECT_EQ(Sent(), Hosts{});
  Advance(std::chrono::minutes(1));
  EXPECT_EQ(Sent(), (Hosts{1}));
}

TEST_F(Steer, PastItsLimitARollPausesAndResumingTakesTheFailures) {
  AddHosts(4);
  const RunId run = StartJob(4, RollOfTwo());
  Sent();
  EndAll();
  Sent();
  EndAll();
  Sent();
  EndAll();  // h1 through
  EXPECT_EQ(Sent(), (Hosts{2, 3}));
  EndAll({2});
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_EQ(Find(run).state, RunState::kPaused);
  EXPECT_NE(Find(run).pause->reason.find("batch 2"), std::string::npos);
  Crash();
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_TRUE(Resume(run));
  EXPECT_EQ(Sent(), (Hosts{3})) << "verify of those that are left";
  EXPECT_EQ(StageNow(), "verify");
  EndAll();
  EXPECT_EQ(Sent(), (Hosts{4}));
}

TEST_F(Steer, ABatchedStageOfTasksPausesToo) {
  AddHosts(3);
  StageSpec stage = Named("go");
  stage.batches = *ParseBatchPlan("1");
  stage.on_limit = OnLimit::kPause;
  const RunId run = StartJob(3, {stage});
  Sent();
  EndAll({1});
  EXPECT_EQ(Find(run).state, RunState::kPaused);
  Crash();
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_TRUE(Resume(run));
  EXPECT_EQ(Sent(), (Hosts{2}));
  Crash();
  EndAll();
  EXPECT_EQ(Sent(), (Hosts{3}));
  EndAll();
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
}

TEST_F(Steer, RetryOfAPausedRollGoesOnWithItsBatchWhereEachHostFailed) {
  AddHosts(4);
  const RunId run = StartJob(4, RollOfTwo());
  for (int i = 0; i < 3; ++i) {
    Sent();
    EndAll();
  }
  EXPECT_EQ(Sent(), (Hosts{2, 3}));
  EndAll();
  EXPECT_EQ(Sent(), (Hosts{2, 3}));
  EXPECT_EQ(StageNow(), "verify");
  EndAll({3});
  EXPECT_EQ(Find(run).state, RunState::kPaused);
  EXPECT_TRUE(Retry(run));
  EXPECT_EQ(Find(run).pass, 2U);
  EXPECT_EQ(Sent(), (Hosts{3})) << "h2 came through, h3 goes on with verify";
  EXPECT_EQ(StageNow(), "verify");
  EXPECT_EQ(Find(run).stages[1].batch, 2U);
  Crash();
  EndAll();
  EXPECT_EQ(Sent(), (Hosts{4}));
  EXPECT_EQ(StageNow(), "upgrade");
  EndAll();
  Sent();
  EndAll();
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
  EXPECT_EQ(Find(run).counts[TaskState::kSucceeded], 4U);
}

TEST_F(Steer, RetryOfAnEndedRunTakesTheFailedHostsFromTheFailedStage) {
  AddHosts(3);
  const RunId run = StartJob(3, {Named("a"), Named("b"), Named("c")});
  Sent();
  EndAll();
  Sent();
  EndAll({2});
  EXPECT_EQ(Find(run).state, RunState::kFailed);
  EXPECT_TRUE(Find(run).ended_commit);
  EXPECT_TRUE(Retry(run));
  EXPECT_FALSE(Find(run).ended_commit);
  EXPECT_EQ(Sent(), (Hosts{2}));
  EXPECT_EQ(StageNow(), "b");
  EndAll();
  EXPECT_EQ(Sent(), (Hosts{1, 2, 3})) << "c is for all that came through b, in either pass";
  EXPECT_EQ(StageNow(), "c");
  EndAll();
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
  EXPECT_FALSE(Retry(run)) << "nothing failed";
  EXPECT_TRUE(Retry(run, From("b")));
  EXPECT_EQ(Sent(), (Hosts{1, 2, 3}));
  EXPECT_EQ(StageNow(), "b");
}

TEST_F(Steer, RetryWithTheCorrectedJobGoesOnInItsStage) {
  AddHosts(2);
  const RunId run = StartJob(2, RollOfTwo());
  Sent();
  EndAll();
  Sent();
  EndAll();
  Sent();
  EndAll();
  EXPECT_EQ(Sent(), (Hosts{2}));
  EndAll({2});
  EXPECT_EQ(Find(run).state, RunState::kFailed) << "the last batch";
  RunSpec corrected;
  corrected.job = "job";
  corrected.version = 2;
  corrected.stages = RollOfTwo();
  muster::Command fixed;
  fixed.script = "fixed";
  corrected.stages[2].action = std::make_shared<const muster::Command>(fixed);
  RetryRun retry;
  retry.plan = std::make_shared<const RunSpec>(corrected);
  EXPECT_TRUE(Retry(run, retry));
  ASSERT_EQ(Sent(), (Hosts{2}));
  EXPECT_EQ(orders_.front().command->script, "fixed");
  Crash();
  EndAll();
  Sent();
  EXPECT_EQ(StageNow(), "verify");
  EndAll();
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
  EXPECT_EQ(Find(run).spec.version, 2U);
  corrected.stages.erase(corrected.stages.begin() + 1, corrected.stages.end());
  RetryRun gone = From("roll");
  gone.plan = std::make_shared<const RunSpec>(corrected);
  EXPECT_FALSE(Retry(run, gone));
}

TEST_F(Steer, ADryRetryNamesItsHostsAndChangesNothing) {
  AddHosts(3);
  const RunId run = StartJob(3, {Named("a")});
  Sent();
  EndAll({2});
  const auto before = Find(run);
  for (const bool from_start : {true, false}) {
    RetryRun retry;
    retry.dry_run = true;
    retry.from_start = from_start;
    const auto answer = Retry(run, retry);
    ASSERT_TRUE(answer);
    EXPECT_EQ(std::get<PassPlanned>(*answer).hosts.Count(), from_start ? 3U : 1U);
    EXPECT_EQ(Find(run).pass, before.pass);
    EXPECT_EQ(Find(run).state, before.state);
    EXPECT_EQ(Find(run).next_visit, before.next_visit);
    EXPECT_EQ(Sent(), Hosts{});
  }
  EXPECT_TRUE(Retry(run));
  EXPECT_EQ(Sent(), (Hosts{2}));
}

TEST_F(Steer, ARunUnderWayIsNotRetried) {
  AddHosts(1);
  const RunId run = StartJob(1, {Named("a")});
  Sent();
  EXPECT_EQ(Retry(run).error().code, ErrorCode::kConflict);
  EXPECT_TRUE(Pause(run));
  EXPECT_EQ(Retry(run).error().code, ErrorCode::kConflict) << "its task still runs";
}

TEST_F(Steer, ASkippedStageIsLeftOut) {
  AddHosts(2);
  const RunId run = StartJob(2, {Named("a"), Named("b"), Named("c")});
  const auto skip = [&](std::string stage) {
    return Do(SkipStage{.caller = {}, .run = run, .stage = std::move(stage), .reason = {}});
  };
  Sent();
  EXPECT_TRUE(skip("b"));
  EXPECT_EQ(skip("a").error().code, ErrorCode::kConflict) << "it is at work";
  EXPECT_EQ(skip("x").error().code, ErrorCode::kNotFound);
  Crash();
  EndAll();
  EXPECT_EQ(Sent(), (Hosts{1, 2}));
  EXPECT_EQ(StageNow(), "c");
  EXPECT_EQ(StageOf(run, "b"), StageState::kSkipped);
}

TEST_F(Steer, SkipOfAStageThatPausedAtItsLimitGoesOn) {
  AddHosts(4);
  StageSpec flat = Named("roll");
  flat.batches = *ParseBatchPlan("1");
  flat.on_limit = OnLimit::kPause;
  const std::vector<std::vector<StageSpec>> plans{
      {Rolling("roll", "1", OnLimit::kPause), In(0, "upgrade"), Named("after")},
      {flat, Named("after")}};
  for (const auto& plan : plans) {
    const RunId run = StartJob(4, plan);
    Sent();
    EndAll({1});
    EXPECT_EQ(Find(run).state, RunState::kPaused);
    EXPECT_TRUE(Do(SkipStage{.caller = {}, .run = run, .stage = "roll", .reason = {}}));
    EXPECT_EQ(Find(run).state, RunState::kRunning);
    EXPECT_EQ(Sent(), (Hosts{2, 3, 4}));
    EXPECT_EQ(StageNow(), "after");
    EndAll();
    EXPECT_EQ(StageOf(run, "roll"), StageState::kSkipped);
  }
}

TEST_F(Steer, SkipLeavesThePauseOfAPerson) {
  AddHosts(1);
  const RunId run = StartJob(1, {Named("a"), Named("b"), Named("c")});
  Sent();
  EXPECT_TRUE(Pause(run));
  EXPECT_TRUE(Do(SkipStage{.caller = {}, .run = run, .stage = "b", .reason = {}}));
  EndAll();
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_EQ(Find(run).state, RunState::kPaused);
}

TEST_F(Steer, SkipLeavesTheLimitOfAnotherStage) {
  AddHosts(2);
  StageSpec a = Rolling("a", "1", OnLimit::kPause), b = Rolling("b", "1", OnLimit::kPause);
  a.needs = b.needs = std::vector<std::uint32_t>{};
  const RunId run = StartJob(2, {a, In(0, "in-a"), b, In(2, "in-b")});
  Sent();
  EndAll({1});
  EXPECT_EQ(Find(run).state, RunState::kPaused);
  EXPECT_TRUE(Do(SkipStage{.caller = {}, .run = run, .stage = "b", .reason = {}}));
  EXPECT_EQ(Find(run).state, RunState::kPaused);
  EXPECT_NE(Find(run).pause->reason.find("stage a"), std::string::npos) << Find(run).pause->reason;
  EXPECT_TRUE(Resume(run));
  EXPECT_EQ(Sent(), Hosts{2});
  EXPECT_EQ(StageNow(), "in-a");
}

TEST_F(Steer, ConcurrencyCanBeChangedWhileItRuns) {
  AddHosts(4);
  StageSpec stage = Named("go");
  stage.concurrency = 1;
  const RunId run = StartJob(4, {stage});
  EXPECT_EQ(Sent(), (Hosts{1}));
  EXPECT_TRUE(
      Do(SetRun{.caller = {}, .run = run, .stage = {}, .concurrency = 3, .max_failures = {}}));
  EXPECT_EQ(Sent(), (Hosts{2, 3}));
}

TEST_F(Steer, ALimitThatIsSetAgainReplacesTheEarlierOne) {
  AddHosts(4);
  StageSpec stage = Named("go");
  stage.concurrency = 1;
  const RunId run = StartJob(4, {stage});
  EXPECT_EQ(Sent(), (Hosts{1}));
  const auto set = [&](std::string of, std::optional<std::uint32_t> concurrency,
                       std::optional<HostShare> failures) {
    return Do(SetRun{.caller = {},
                     .run = run,
                     .stage = std::move(of),
                     .concurrency = concurrency,
                     .max_failures = failures});
  };
  for (std::uint32_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(set("", 1 + i % 2, {}));
    ASSERT_TRUE(set("go", 1, HostShare{1 + i % 2, false}));
  }
  ASSERT_TRUE(set("", 3, {}));
  const muster::Run kept = *store_.FindRun(run)->value;
  ASSERT_EQ(kept.overrides.size(), 2U);
  EXPECT_EQ(kept.overrides[0].max_failures, (HostShare{2, false}));
  EXPECT_EQ(kept.overrides[1].concurrency, 3U);
  EXPECT_EQ(Sent(), (Hosts{2, 3})) << "what was set last counts";
}

TEST_F(Steer, AStopEndsWhatWaitsAndReachesChildren) {
  AddHosts(2);
  RunSpec child;
  child.job = "child";
  child.stages = {Named("work")};
  RunSpec spec;
  spec.job = "parent";
  spec.jobs["child"] = std::make_shared<const RunSpec>(child);
  spec.stages = {With("sub", JobAction{.job = "child", .params = {}}), Named("after")};
  const RunId run = StartSpec(2, spec);
  Sent();
  const auto out = orders_;
  EXPECT_TRUE(Do(StopRun{.caller = {}, .run = run, .host = {}, .reason = "enough", .known = {}}));
  EXPECT_EQ(TakeKills().size(), 2U);
  for (const auto& order : out) End(order.task, TaskState::kKilled);
  EXPECT_EQ(Find(out.front().task.run).state, RunState::kCancelled);
  EXPECT_EQ(Find(run).state, RunState::kCancelled);
  EXPECT_EQ(Sent(), Hosts{});
}

TEST_F(Steer, AStopNamesTheHostsOfTheRunsInside) {
  AddHosts(2);
  RunSpec child;
  child.job = "child";
  child.stages = {Named("work")};
  RunSpec spec;
  spec.job = "parent";
  spec.jobs["child"] = std::make_shared<const RunSpec>(child);
  spec.stages = {With("sub", JobAction{.job = "child", .params = {}})};
  const RunId run = StartSpec(2, spec);
  EXPECT_EQ(Sent(), (Hosts{1, 2}));
  EXPECT_TRUE(Do(StopRun{.caller = {}, .run = run, .host = {}, .reason = "enough", .known = {}}));
  std::vector<AuditEntry> stops;
  for (const auto& entry : *store_.ReadAudit(1, 100))
    if (entry.act == "run.stop") stops.push_back(entry);
  ASSERT_EQ(stops.size(), 1U);
  EXPECT_EQ(stops[0].run, run);
  EXPECT_EQ(stops[0].hosts, 2U);
  EXPECT_EQ(stops[0].names, "h[1-2]");
  EXPECT_NE(stops[0].detail.find("1 run inside"), std::string::npos) << stops[0].detail;
}

// The same job with the server killed before each step ends as without.
TEST_F(Steer, ACrashAtAnyStepChangesNothing) {
  AddHosts(4);
  for (int crash_at = -1; crash_at < 12; ++crash_at) {
    const RunId run = StartJob(4, {Named("precheck"), Rolling("roll", "1,2", OnLimit::kFail),
                                   In(1, "upgrade"), In(1, "verify"), Named("report")});
    std::vector<std::pair<std::string, Hosts>> seen;
    for (int step = 0; step < 8; ++step) {
      if (step == crash_at) Crash();
      const Hosts hosts = Sent();
      seen.emplace_back(StageNow(), hosts);
      if (step + 20 == crash_at + 12) Crash();
      EndAll();
    }
    EXPECT_EQ(seen, (std::vector<std::pair<std::string, Hosts>>{{"precheck", {1, 2, 3, 4}},
                                                                {"upgrade", {1}},
                                                                {"verify", {1}},
                                                                {"upgrade", {2, 3}},
                                                                {"verify", {2, 3}},
                                                                {"upgrade", {4}},
                                                                {"verify", {4}},
                                                                {"report", {1, 2, 3, 4}}}))
        << "crash at " << crash_at;
    EXPECT_EQ(Find(run).state, RunState::kSucceeded) << "crash at " << crash_at;
  }
}

TEST_F(Steer, OrderThatNeverCameIsNotSentAgainToAPausedRun) {
  AddHosts(1);
  const RunId run = StartJob(1, {Named("go")});
  EXPECT_EQ(Sent(), Hosts{1});
  EXPECT_TRUE(Do(PauseRun{.caller = {}, .run = run, .release = false, .reason = {}}));
  Cut(1);
  SayHello(1);
  Settle();
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_TRUE(Do(ResumeRun{.caller = {}, .run = run}));
  EXPECT_EQ(Sent(), Hosts{1});
}

}  // namespace
}  // namespace muster::engine
