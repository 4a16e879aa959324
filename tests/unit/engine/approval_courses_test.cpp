#include "approvals_fixture.hpp"

// Courses that a run does not take in the order of its list: graphs, loops and branches.
namespace muster::engine {
namespace {

class ApprovalCourses : public Approvals {
 protected:
  static StageSpec Needing(StageSpec stage, std::vector<std::uint32_t> needs) {
    stage.needs = std::move(needs);
    return stage;
  }
  static StageSpec ForAll(StageSpec stage) {
    stage.hosts = HostChoice::kAll;
    return stage;
  }
  static StageSpec AskWhen(std::string when) {
    StageSpec ask = Ask("ask");
    ask.when = std::move(when);
    return ask;
  }
  static RetryRun OnAll(std::string from) {
    RetryRun retry = From(std::move(from));
    retry.all_hosts = true;
    return retry;
  }
  static StageSpec Wait(std::string name) {
    return With(std::move(name), WaitAction{.time = std::chrono::hours(1), .until = {}});
  }
  void PassAnHour() {
    Advance(std::chrono::hours(1));
    Settle();
  }
};

TEST_F(ApprovalCourses, APassOfAGraphTakesBackTheHostsOfEveryStageThatItDoesAgain) {
  AddHosts(1);
  const RunId run = StartJob(1, {Needing(Wait("cool"), {}), Needing(Named("check"), {}),
                                 Needing(AskWhen("stages.check.status == 'high'"), {0, 1}),
                                 Needing(ForAll(Named("deploy")), {2})});
  Sent();
  Stop(run);
  EndAll({1});
  ASSERT_TRUE(IsFinal(Find(run).state));
  EXPECT_TRUE(Denied(Retry("ann", run)));
  ASSERT_TRUE(Retry("bob", run)) << "it begins with the wait, and the check beside it";
  EXPECT_EQ(Sent(), (Hosts{1}));
  ASSERT_EQ(StageNow(), "check") << "the check is done again";
  EndWith({{"status", "high"}});
  PassAnHour();
  EXPECT_TRUE(Asks(run, "ask"));
  EXPECT_EQ(Sent(), Hosts{});
}

TEST_F(ApprovalCourses, AFailedStageOfAGraphIsNotJumpedOverByARetry) {
  AddHosts(2);
  const RunId run = StartJob(2, {Needing(Wait("cool"), {}), Needing(Named("check"), {}),
                                 Needing(ForAll(Named("deploy")), {0, 1})});
  Sent();
  EndAll({1, 2});
  Stop(run);
  ASSERT_TRUE(Retry("ann", run));
  EXPECT_EQ(Sent(), (Hosts{1, 2}));
  ASSERT_EQ(StageNow(), "check");
  EndAll({1, 2});
  PassAnHour();
  EXPECT_EQ(Find(run).state, RunState::kFailed);
  EXPECT_EQ(Sent(), Hosts{});
}

TEST_F(ApprovalCourses, WhatAGraphReportedStaysKnownWhereverItStands) {
  AddHosts(1);
  const RunId run = StartJob(1, {Needing(AskWhen("stages.check.status == 'high'"), {1}),
                                 Needing(Named("check"), {}), Needing(Named("deploy"), {0})});
  Sent();
  EndWith({{"status", "high"}});
  ASSERT_TRUE(Asks(run, "ask"));
  Stop(run);
  const auto retried = Retry("bob", run);
  ASSERT_TRUE(retried) << retried.error().message;
  EXPECT_TRUE(Asks(run, "ask")) << "the check was not done again, and still says high";
  EXPECT_EQ(Sent(), Hosts{});
  Crash();
  EXPECT_TRUE(Asks(run, "ask"));
}

TEST_F(ApprovalCourses, WhatABranchReportedStaysKnown) {
  AddHosts(1);
  StageSpec probe = Named("probe");
  probe.next["odd"] = 3;
  StageSpec fix = Named("fix");
  fix.section = Section::kBranch;
  fix.next["default"] = 1;
  const RunId run =
      StartJob(1, {probe, AskWhen("stages.fix.status == 'high'"), Named("deploy"), fix});
  Sent();
  EndWith({{"status", "odd"}});
  Sent();
  EndWith({{"status", "high"}});
  ASSERT_TRUE(Asks(run, "ask"));
  Stop(run);
  ASSERT_TRUE(Retry("bob", run));
  EXPECT_TRUE(Asks(run, "ask"));
  EXPECT_EQ(Sent(), Hosts{});
}

TEST_F(ApprovalCourses, ALoopWithNobodyLeftIsApprovedAgain) {
  AddHosts(1);
  StageSpec deploy = ForAll(With("deploy", JobAction{.job = "child", .params = {}}));
  deploy.next["succeeded"] = 0;
  RunSpec child;
  child.job = "child";
  child.stages = {Named("work")};
  RunSpec spec;
  spec.job = "job";
  spec.stages = {Named("check"), Ask("ask"), deploy};
  spec.jobs["child"] = std::make_shared<const RunSpec>(child);
  const RunId run = StartSpec(1, spec);
  Sent();
  EndAll();
  ASSERT_TRUE(Approve("bob", run));
  Sent();
  ASSERT_EQ(StageNow(), "work");
  EndAll();
  Sent();
  ASSERT_EQ(StageNow(), "check") << "the second round";
  Stop(run);
  EndAll({1});
  EXPECT_TRUE(Denied(Retry("ann", run, From("deploy"))));
  Crash();
  EXPECT_TRUE(Denied(Retry("ann", run, From("deploy"))));
}

// probe may lead to fix, which leads back to recheck: what ask depends on comes after fix.
class ApprovalBehindABranch : public ApprovalCourses {
 protected:
  RunId StartRepairing() {
    AddHosts(1);
    StageSpec probe = Named("probe");
    probe.next["odd"] = 4;
    StageSpec fix = Named("fix");
    fix.section = Section::kBranch;
    fix.next["default"] = 1;
    const RunId run =
        StartJob(1, {probe, Named("recheck"), AskWhen("stages.recheck.status == 'high'"),
                     Named("deploy"), fix});
    Sent();
    return run;
  }
};

TEST_F(ApprovalBehindABranch, TheBranchIsNotSkippedWithoutTheRight) {
  const RunId run = StartRepairing();
  EXPECT_TRUE(Denied(Skip("ann", run, "fix")));
  EXPECT_TRUE(Denied(Skip("ann", run, "deploy"))) << "any stage may lead there";
  EXPECT_TRUE(Skip("bob", run, "fix"));
}

TEST_F(ApprovalBehindABranch, ARetryDoesNotBeginBehindABranchThatWasStopped) {
  const RunId run = StartRepairing();
  EndWith({{"status", "odd"}});
  Sent();
  ASSERT_EQ(StageNow(), "fix");
  Stop(run);
  EndAll({1});
  EXPECT_TRUE(Denied(Retry("ann", run, OnAll("recheck"))));
  EXPECT_TRUE(Denied(Retry("ann", run, OnAll("probe"))));
}

class ApprovalAboveAChild : public ApprovalCourses {
 protected:
  // sub starts a job that works; if it fails, ask leads on.
  RunId StartParent(std::vector<StageSpec> child) {
    AddHosts(1);
    RunSpec below;
    below.job = "child";
    below.stages = std::move(child);
    StageSpec sub = With("sub", JobAction{.job = "child", .params = {}});
    sub.next["failed"] = 2;
    StageSpec ask = Ask("ask");
    ask.section = Section::kBranch;
    ask.next["succeeded"] = 1;
    RunSpec spec;
    spec.job = "parent";
    spec.stages = {sub, Named("deploy"), ask};
    spec.jobs["child"] = std::make_shared<const RunSpec>(std::move(below));
    return StartSpec(1, std::move(spec));
  }
  RunId OpenChild(RunId run) {
    for (const auto& visit : *store_.ListVisits(run, {}, 100))
      if (visit.child && !IsFinal(visit.state)) return visit.child;
    return {};
  }
};

TEST_F(ApprovalAboveAChild, TheChildIsRetriedThroughItsParent) {
  const RunId run = StartParent(
      {Needing(Wait("cool"), {}), Needing(Named("judge"), {}), Needing(Named("last"), {0, 1})});
  const RunId child = OpenChild(run);
  Sent();
  EndAll({1});
  Pause(child);
  EXPECT_TRUE(Denied(Retry("ann", child)));
  EXPECT_TRUE(Denied(Retry("bob", child)));
  Stop(run);
  Crash();
  EXPECT_TRUE(Denied(Retry("ann", child))) << "also when the parent has ended";
}

TEST_F(ApprovalAboveAChild, AStageWhoseChildWorksIsNotSkipped) {
  const RunId run = StartParent({Named("work")});
  Sent();
  const auto skipped = Skip("bob", run, "sub");
  ASSERT_FALSE(skipped);
  EXPECT_EQ(skipped.error().code, ErrorCode::kConflict);
  EndAll();
  EXPECT_EQ(Sent(), (Hosts{1}));
  EXPECT_EQ(StageNow(), "deploy");
}

TEST_F(ApprovalAboveAChild, AChildThatOnlyWaitsEndsWithTheStageThatIsSkipped) {
  const RunId run = StartParent({Wait("cool"), Named("work")});
  const RunId child = OpenChild(run);
  ASSERT_TRUE(Skip("bob", run, "sub"));
  EXPECT_EQ(Find(child).state, RunState::kCancelled);
  EXPECT_EQ(StageOf(run, "sub"), StageState::kSkipped);
  EXPECT_EQ(Sent(), (Hosts{1}));
  EXPECT_EQ(StageNow(), "deploy");
}

}  // namespace
}  // namespace muster::engine
