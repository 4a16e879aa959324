#include "flow_fixture.hpp"

namespace muster::engine {
namespace {

// What a retry does again, on which hosts, and in which order.
class Retries : public FlowFixture {
 protected:
  // What was sent in one step: the stages and their hosts.
  using Step = std::map<std::string, Hosts>;

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
  // Ends each step until nothing more is sent; `failing` fail by stage.
  std::vector<Step> Go(const std::map<std::string, std::set<std::uint64_t>>& failing = {}) {
    std::vector<Step> steps;
    while (!Sent().empty()) {
      Step& step = steps.emplace_back();
      for (const auto& order : std::exchange(orders_, {})) {
        step[order.stage].push_back(order.task.host.value);
        const auto found = failing.find(order.stage);
        const bool fails = found != failing.end() && found->second.contains(order.task.host.value);
        End(order.task, fails ? TaskState::kFailed : TaskState::kSucceeded);
      }
      for (auto& [stage, hosts] : step) std::ranges::sort(hosts);
    }
    return steps;
  }
  // A roll that tolerates one failure in each batch.
  static StageSpec Tolerant(std::string_view batches) {
    StageSpec roll = Rolling("roll", batches, OnLimit::kPause);
    roll.max_failures = {.number = 1};
    return roll;
  }
  static StageSpec Lenient(std::string name) {
    StageSpec stage = Named(std::move(name));
    stage.max_failures = {.number = 100, .percent = true};
    return stage;
  }
};

TEST_F(Retries, HostsOfSeveralBatchesGoOnInBatches) {
  AddHosts(3);
  const RunId run = StartJob(3, {Tolerant("1"), In(0, "drain"), In(0, "inst")});
  Go({{"inst", {1, 2, 3}}});
  EXPECT_EQ(Find(run).counts[TaskState::kFailed], 3U);
  EXPECT_TRUE(Retry(run));
  EXPECT_EQ(Find(run).stages[0].batch, 3U) << "the counter goes on where it stood";
  const auto steps = Go();
  for (const auto& step : steps)
    for (const auto& [stage, hosts] : step) EXPECT_EQ(hosts.size(), 1U) << stage;
  EXPECT_EQ(Find(run).stages[0].batch, 5U);
  EXPECT_EQ(Find(run).counts[TaskState::kSucceeded], 3U);
}

TEST_F(Retries, HostsOfSeveralBatchesOfOneStageGoOnInBatches) {
  AddHosts(5);
  StageSpec stage = Lenient("go");
  stage.batches = *ParseBatchPlan("1,2");
  const RunId run = StartJob(5, {stage});
  Go({{"go", {1, 2, 3, 5}}});
  EXPECT_TRUE(Retry(run));
  EXPECT_EQ(Go(), (std::vector<Step>{{{"go", {1, 2}}}, {{"go", {3, 5}}}}));
}

TEST_F(Retries, FirstBatchTakesNoHostThatNoBatchReached) {
  AddHosts(6);
  const RunId run = StartJob(6, {Tolerant("2"), In(0, "inst")});
  Go({{"inst", {2, 3, 4}}});
  EXPECT_EQ(Find(run).state, RunState::kPaused) << "both of the second batch failed";
  EXPECT_TRUE(Retry(run));
  EXPECT_EQ(Go(), (std::vector<Step>{{{"inst", {2, 3}}}, {{"inst", {4, 5}}}, {{"inst", {6}}}}));
}

// What the corrected job says about batches holds.
TEST_F(Retries, BatchesAreThoseOfTheCorrectedJob) {
  AddHosts(4);
  const RunId run = StartJob(4, {Rolling("roll", "4", OnLimit::kFail), In(0, "inst")});
  Go({{"inst", {1, 2, 3, 4}}});
  RunSpec corrected;
  corrected.job = "job";
  corrected.version = 2;
  corrected.stages = {Rolling("roll", "1,3", OnLimit::kFail), In(0, "inst")};
  RetryRun retry;
  retry.plan = std::make_shared<const RunSpec>(corrected);
  EXPECT_TRUE(Retry(run, std::move(retry)));
  EXPECT_EQ(Go(), (std::vector<Step>{{{"inst", {1}}}, {{"inst", {2, 3, 4}}}}));
}

TEST_F(Retries, EndedRollGoesOnAtTheInnerStageThatFailed) {
  AddHosts(4);
  const RunId run = StartJob(
      4, {Rolling("roll", "2", OnLimit::kFail), In(0, "drain"), In(0, "inst"), Named("c")});
  Go({{"inst", {3, 4}}});
  EXPECT_EQ(Find(run).state, RunState::kFailed);
  EXPECT_TRUE(Retry(run));
  EXPECT_EQ(Go(), (std::vector<Step>{{{"inst", {3, 4}}}, {{"c", {1, 2, 3, 4}}}}));
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
}

TEST_F(Retries, HostsOfABatchThatWasLeftInTheMiddleGoOnToo) {
  AddHosts(2);
  const RunId run = StartJob(
      2, {Rolling("roll", "2", OnLimit::kFail), In(0, "drain"), In(0, "inst"), Named("c")});
  Go({{"drain", {1}}});
  EXPECT_EQ(Find(run).state, RunState::kFailed);
  EXPECT_EQ(Find(run).counts[TaskState::kSkipped], 1U) << "h2 was not installed";
  EXPECT_TRUE(Retry(run));
  EXPECT_EQ(Go(), (std::vector<Step>{{{"drain", {1}}}, {{"inst", {1, 2}}}, {{"c", {1, 2}}}}));
}

TEST_F(Retries, EachFailedHostGoesOnWhereItFailed) {
  AddHosts(3);
  const RunId run = StartJob(3, {Lenient("a"), Lenient("b"), Named("c")});
  Go({{"a", {1}}, {"b", {3}}});
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
  EXPECT_TRUE(Retry(run));
  const auto steps = Go();
  EXPECT_EQ(steps, (std::vector<Step>{{{"a", {1}}}, {{"b", {1, 3}}}, {{"c", {1, 3}}}}))
      << "h2 is done";
  EXPECT_EQ(Find(run).counts[TaskState::kSucceeded], 3U);
}

TEST_F(Retries, HostsThatFailedBeforeTheStageThatEndedTheRunGoOnToo) {
  AddHosts(4);
  const RunId run = StartJob(4, {Lenient("a"), Named("b"), Named("c")});
  Go({{"a", {1}}, {"b", {3}}});
  EXPECT_EQ(Find(run).state, RunState::kFailed);
  EXPECT_TRUE(Retry(run));
  EXPECT_EQ(Go(), (std::vector<Step>{{{"a", {1}}}, {{"b", {1, 3}}}, {{"c", {1, 2, 3, 4}}}}));
}

// The stage is judged with the hosts that came through it before.
TEST_F(Retries, HostThatFailsAgainAndMayHoldsNobodyBack) {
  AddHosts(10);
  StageSpec a = Named("a");
  a.max_failures = {.number = 10, .percent = true};
  const RunId run = StartJob(10, {a, Named("b"), Named("c")});
  Go({{"a", {1}}, {"b", {3}}});
  EXPECT_TRUE(Retry(run));
  EXPECT_EQ(Go({{"a", {1}}}),
            (std::vector<Step>{{{"a", {1}}}, {{"b", {3}}}, {{"c", {2, 3, 4, 5, 6, 7, 8, 9, 10}}}}));
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
}

TEST_F(Retries, StageThatAllCameThroughBeforeIsLeftOut) {
  AddHosts(2);
  const RunId run = StartJob(2, {Lenient("a"), Named("b")});
  Go({{"a", {1}}});
  EXPECT_TRUE(Retry(run));
  EXPECT_EQ(Go({{"a", {1}}}), (std::vector<Step>{{{"a", {1}}}}));
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
  EXPECT_EQ(Find(run).stages[1].reason, "its hosts came through it before");
  EXPECT_EQ(Find(run).counts[TaskState::kFailed], 1U);
}

TEST_F(Retries, CrashChangesNothingAboutWhoGoesOn) {
  AddHosts(3);
  const RunId run = StartJob(3, {Lenient("a"), Lenient("b"), Named("c")});
  Go({{"a", {1}}, {"b", {3}}});
  EXPECT_TRUE(Retry(run));
  EXPECT_EQ(Sent(), Hosts{1});
  Crash();
  EndAll();
  EXPECT_EQ(Sent(), (Hosts{1, 3}));
  Crash();
  EndAll();
  EXPECT_EQ(Sent(), (Hosts{1, 3}));
}

TEST_F(Retries, OnlyWhatFailsAgainIsDoneInAThirdPass) {
  AddHosts(3);
  const RunId run = StartJob(3, {Lenient("a"), Lenient("b"), Named("c")});
  Go({{"a", {1}}, {"b", {3}}});
  EXPECT_TRUE(Retry(run));
  Go({{"b", {3}}});
  EXPECT_TRUE(Retry(run));
  EXPECT_EQ(Go(), (std::vector<Step>{{{"b", {3}}}, {{"c", {3}}}}));
}

TEST_F(Retries, FromAStageBeginsAgainForAll) {
  AddHosts(3);
  const RunId run = StartJob(3, {Lenient("a"), Lenient("b"), Named("c")});
  Go({{"a", {1}}, {"b", {3}}});
  EXPECT_TRUE(Retry(run, From("b")));
  EXPECT_EQ(Go(), (std::vector<Step>{{{"b", {2, 3}}}, {{"c", {2, 3}}}}));
  RetryRun all;
  all.from_start = true;
  EXPECT_TRUE(Retry(run, std::move(all)));
  EXPECT_EQ(Go(), (std::vector<Step>{{{"a", {1, 2, 3}}}, {{"b", {1, 2, 3}}}, {{"c", {1, 2, 3}}}}));
}

TEST_F(Retries, WaitInBetweenBringsNobodyBack) {
  AddHosts(2);
  const RunId run = StartJob(
      2,
      {Lenient("a"), With("wait", WaitAction{.time = Duration::zero(), .until = {}}), Named("c")});
  Go({{"a", {1}}});
  Settle();
  EXPECT_TRUE(Retry(run));
  EXPECT_EQ(Go(), (std::vector<Step>{{{"a", {1}}}, {{"c", {1}}}}));
}

TEST_F(Retries, RollThatComesLaterGoesOnWhereItStood) {
  AddHosts(5);
  const RunId run = StartJob(
      5, {Lenient("a"), Rolling("roll", "1,2", OnLimit::kPause), In(1, "drain"), In(1, "inst")});
  Go({{"a", {5}}, {"inst", {2}}});
  EXPECT_EQ(Find(run).state, RunState::kPaused);
  EXPECT_EQ(Find(run).stages[1].batch, 2U);
  EXPECT_TRUE(Retry(run));
  EXPECT_EQ(Go(), (std::vector<Step>{
                      {{"a", {5}}}, {{"inst", {2}}}, {{"drain", {4, 5}}}, {{"inst", {4, 5}}}}));
  EXPECT_EQ(Find(run).stages[1].batch, 3U);
  EXPECT_EQ(Find(run).counts[TaskState::kSucceeded], 5U);
}

TEST_F(Retries, StagesSideBySideAreDoneForTheirOwnFailedHosts) {
  AddHosts(3);
  StageSpec a = Named("a"), b = Named("b"), c = Named("c");
  a.needs = b.needs = std::vector<std::uint32_t>{};
  c.needs = std::vector<std::uint32_t>{0, 1};
  const RunId run = StartJob(3, {a, b, c});
  Go({{"a", {1}}, {"b", {2}}});
  EXPECT_TRUE(Retry(run));
  EXPECT_EQ(Go(), (std::vector<Step>{{{"a", {1}}, {"b", {2}}}, {{"c", {1, 2, 3}}}}));
}

TEST_F(Retries, StagesSideBySideWithToleratedFailuresAreDoneToo) {
  AddHosts(3);
  StageSpec a = Lenient("a"), b = Lenient("b"), c = Named("c");
  a.needs = b.needs = std::vector<std::uint32_t>{};
  c.needs = std::vector<std::uint32_t>{0, 1};
  const RunId run = StartJob(3, {a, b, c});
  Go({{"a", {1}}, {"b", {2}}});
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
  EXPECT_TRUE(Retry(run));
  EXPECT_EQ(Go(), (std::vector<Step>{{{"a", {1}}, {"b", {2}}}, {{"c", {1, 2}}}}));
  EXPECT_EQ(Find(run).counts[TaskState::kSucceeded], 3U);
}

TEST_F(Retries, CorrectedJobKeepsWhatTheRunWasStartedWithout) {
  AddHosts(1);
  RunSpec spec;
  spec.job = "job";
  spec.stages = {Named("a")};
  const RunId run = StartSpec(1, spec);
  Go({{"a", {1}}});
  auto known = *store_.ReadWholeRun(run);
  known.value->run.spec.left_out = "1 copy, which takes no work: h4";
  RetryRun retry;
  retry.run = run;
  retry.known = std::move(known);
  spec.version = 2;
  retry.plan = std::make_shared<const RunSpec>(spec);
  EXPECT_TRUE(Do(std::move(retry)));
  EXPECT_EQ(Find(run).spec.version, 2U);
  EXPECT_EQ(Find(run).spec.left_out, "1 copy, which takes no work: h4");
}

TEST_F(Retries, RefusalSaysThatOnlyTheCleanupFailed) {
  AddHosts(2);
  StageSpec cleanup = Named("tidy");
  cleanup.section = Section::kFinally;
  const RunId run = StartJob(2, {Named("a"), cleanup});
  Go({{"tidy", {1}}});
  EXPECT_EQ(Find(run).state, RunState::kFailed);
  const auto refused = Retry(run);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
  EXPECT_NE(refused.error().message.find("stage tidy failed on h1"), std::string::npos)
      << refused.error().message;
  EXPECT_NE(refused.error().message.find("muster rerun"), std::string::npos);
  EXPECT_TRUE(Retry(run, From("a")));
  EXPECT_EQ(Go(), (std::vector<Step>{{{"a", {1, 2}}}, {{"tidy", {1, 2}}}}));
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
}

}  // namespace
}  // namespace muster::engine
