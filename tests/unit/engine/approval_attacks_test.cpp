#include "approvals_fixture.hpp"

// Acts that change the course of a run, and so could lead it past an approval.
namespace muster::engine {
namespace {

class ApprovalAttacks : public Approvals {
 protected:
  // A job with an approval and nothing else, and one that starts it as `name`.
  static RunSpec Gate() {
    RunSpec gate;
    gate.job = "gate";
    gate.stages = {Ask("ask")};
    return gate;
  }
  static StageSpec StartOf(std::string name, std::string job) {
    return With(std::move(name), JobAction{.job = std::move(job), .params = {}});
  }
  static RunSpec Parent(std::vector<StageSpec> stages, const std::string& job, RunSpec child) {
    RunSpec spec;
    spec.job = "parent";
    spec.stages = std::move(stages);
    spec.jobs[job] = std::make_shared<const RunSpec>(std::move(child));
    return spec;
  }
  RunId ChildOf(RunId run) {
    for (const auto& visit : *store_.ListVisits(run, {}, 100))
      if (visit.child && !IsFinal(visit.state)) return visit.child;
    return {};
  }
  Result<RunSteered> Set(std::string who, RunId run, std::string share) {
    return Do(SetRun{.caller = As(std::move(who)),
                     .run = run,
                     .stage = {},
                     .concurrency = {},
                     .max_failures = *ParseHostShare(share)});
  }
  Result<RunStopping> StopAs(std::string who, RunId run, std::optional<HostId> host = {}) {
    return Do(
        StopRun{.caller = As(std::move(who)), .run = run, .host = host, .reason = "", .known = {}});
  }
  static StageSpec Needing(std::string name, std::vector<std::uint32_t> needs) {
    StageSpec stage = Named(std::move(name));
    stage.needs = std::move(needs);
    return stage;
  }
  static RetryRun Everywhere(std::string from) {
    RetryRun retry = From(std::move(from));
    retry.all_hosts = true;
    return retry;
  }
};

TEST_F(ApprovalAttacks, AGateInsideAStageThatDoesNotOpenEndsTheStage) {
  AddHosts(2);
  for (const std::string how : {"stop", "reject"}) {
    StageSpec roll = With("roll", SequenceAction{});
    StageSpec gate = StartOf("gate", "gate");
    gate.parent = 0;
    const RunId run = StartSpec(2, Parent({roll, gate, In(0, "deploy")}, "gate", Gate()));
    const RunId child = ChildOf(run);
    ASSERT_TRUE(child) << how;
    EXPECT_TRUE(Denied(StopAs("ann", child))) << how;
    if (how == "stop") ASSERT_TRUE(StopAs("bob", child)) << how;
    if (how == "reject") ASSERT_TRUE(Approve("bob", child, false)) << how;
    EXPECT_EQ(Sent(), Hosts{}) << how;
    EXPECT_NE(Find(run).state, RunState::kSucceeded) << how;
  }
}

TEST_F(ApprovalAttacks, AHostThatIsOnlyStillOkDidNotComeThroughAFailedChild) {
  AddHosts(2);
  RunSpec child;
  child.job = "child";
  child.stages = {Named("drain"), Named("restart")};
  StageSpec roll = With("roll", SequenceAction{});
  roll.max_failures = *ParseHostShare("1");
  StageSpec start = StartOf("start", "child");
  start.parent = 0;
  const RunId run = StartSpec(2, Parent({roll, start, In(0, "verify")}, "child", child));
  EXPECT_EQ(Sent(), (Hosts{1, 2}));
  EndAll({2});
  EXPECT_EQ(Sent(), Hosts{}) << "h1 was drained and never restarted";
  EXPECT_EQ(Find(run).state, RunState::kFailed);
}

TEST_F(ApprovalAttacks, FinallyEndsAtAnApprovalThatIsNotGiven) {
  AddHosts(1);
  StageSpec ask = Ask("ask");
  ask.section = Section::kFinally;
  StageSpec clean = Named("clean");
  clean.section = Section::kFinally;
  const RunId run = StartJob(1, {Named("work"), ask, clean});
  Sent();
  EndAll();
  ASSERT_TRUE(Asks(run, "ask"));
  ASSERT_TRUE(Approve("bob", run, false));
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_EQ(Find(run).state, RunState::kFailed);
}

TEST_F(ApprovalAttacks, LimitsThatDecideAConditionNeedTheRight) {
  AddHosts(1);
  StageSpec ask = Ask("ask");
  ask.when = "stages.check.state != 'succeeded'";
  const RunId run = StartJob(1, {Named("check"), ask, Named("go")});
  Sent();
  EXPECT_TRUE(Denied(Set("ann", run, "100%")));
  EXPECT_TRUE(Set("bob", run, "100%"));
}

TEST_F(ApprovalAttacks, GoingOnPastALimitNeedsTheRight) {
  AddHosts(2);
  StageSpec check = Rolling("check", "1,1", OnLimit::kPause);
  check.next["failed"] = 3;
  StageSpec ask = Ask("ask");
  ask.section = Section::kBranch;
  ask.next["succeeded"] = 2;
  const RunId run = StartJob(2, {check, In(0, "look"), Named("go"), ask});
  Sent();
  EndAll({1});
  ASSERT_EQ(Find(run).state, RunState::kPaused);
  EXPECT_TRUE(Denied(Do(ResumeRun{.caller = As("ann"), .run = run})));
  EXPECT_TRUE(Do(ResumeRun{.caller = As("bob"), .run = run}));
}

TEST_F(ApprovalAttacks, ActsInAChildCountForTheRunsAboveIt) {
  AddHosts(1);
  RunSpec child;
  child.job = "child";
  child.stages = {Named("look"), Named("judge")};
  StageSpec check = StartOf("check", "child");
  check.next["failed"] = 2;
  StageSpec ask = Ask("ask");
  ask.section = Section::kBranch;
  ask.next["succeeded"] = 1;
  const RunId run = StartSpec(1, Parent({check, Named("go"), ask}, "child", child));
  const RunId below = ChildOf(run);
  Sent();
  EXPECT_TRUE(Denied(Skip("ann", below, "judge")));
  EXPECT_TRUE(Denied(Set("ann", below, "100%")));
  EXPECT_TRUE(Denied(StopAs("ann", below)));
  EXPECT_TRUE(Denied(StopAs("ann", below, HostId(1))));
  EXPECT_TRUE(Skip("bob", below, "judge"));
  EXPECT_TRUE(StopAs("ann", run)) << "all of it can always be stopped";
}

// Otherwise a pause and a resume of the run above accept the failures of the child.
TEST_F(ApprovalAttacks, AChildThatPausedAtItsLimitStaysPausedWhenItsParentIsResumed) {
  AddHosts(2);
  RunSpec child;
  child.job = "child";
  child.stages = {Rolling("roll", "1,1", OnLimit::kPause), In(0, "look")};
  StageSpec check = StartOf("check", "child");
  check.next["failed"] = 2;
  StageSpec ask = Ask("ask");
  ask.section = Section::kBranch;
  ask.next["succeeded"] = 1;
  const RunId run = StartSpec(2, Parent({check, Named("go"), ask}, "child", child));
  const RunId below = ChildOf(run);
  Sent();
  EndAll({1});
  ASSERT_EQ(Find(below).state, RunState::kPaused);
  EXPECT_TRUE(Denied(Do(ResumeRun{.caller = As("ann"), .run = below})));
  Pause(run);
  ASSERT_TRUE(Do(ResumeRun{.caller = As("ann"), .run = run}));
  EXPECT_EQ(Find(run).state, RunState::kRunning);
  EXPECT_EQ(Find(below).state, RunState::kPaused);
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_TRUE(Do(ResumeRun{.caller = As("bob"), .run = below}));
}

TEST_F(ApprovalAttacks, AChildThatAPersonPausedStaysPausedWhenItsParentIsResumed) {
  AddHosts(1);
  RunSpec child;
  child.job = "child";
  child.stages = {Named("look")};
  for (const bool by_itself : {true, false}) {
    const RunId run = StartSpec(1, Parent({StartOf("check", "child")}, "child", child));
    const RunId below = ChildOf(run);
    Sent();
    if (by_itself) Pause(below);
    Advance(std::chrono::seconds(1));
    Pause(run);
    ASSERT_EQ(Find(below).state, RunState::kPaused);
    ASSERT_TRUE(Do(ResumeRun{.caller = As("ann"), .run = run}));
    EXPECT_EQ(Find(below).state, by_itself ? RunState::kPaused : RunState::kRunning);
  }
}

TEST_F(ApprovalAttacks, APassOfAChildThatLeavesStagesOutCountsForTheRunsAboveIt) {
  AddHosts(1);
  RunSpec child;
  child.job = "child";
  child.stages = {Named("look"), Named("judge"), Named("last")};
  StageSpec check = StartOf("check", "child");
  check.next["failed"] = 2;
  StageSpec ask = Ask("ask");
  ask.section = Section::kBranch;
  ask.next["succeeded"] = 1;
  const RunId run = StartSpec(1, Parent({check, Named("go"), ask}, "child", child));
  const RunId below = ChildOf(run);
  Sent();
  Pause(below);
  EndAll();
  const auto denied = Retry("ann", below, Everywhere("last"));
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code, ErrorCode::kDenied) << denied.error().message;
}

TEST_F(ApprovalAttacks, StoppingAHostThatDecidesNeedsTheRight) {
  AddHosts(2);
  StageSpec ask = Ask("ask");
  ask.when = "stages.check.status == 'high'";
  StageSpec go = Named("go");
  go.hosts = HostChoice::kAll;
  const RunId run = StartJob(2, {Named("check"), ask, go});
  Sent();
  EXPECT_TRUE(Denied(StopAs("ann", run, HostId(1))));
  EXPECT_TRUE(StopAs("bob", run, HostId(1)));
}

TEST_F(ApprovalAttacks, AChildKeepsTheVersionThatWasApproved) {
  AddHosts(1);
  RunSpec child;
  child.job = "child";
  child.stages = {Named("work")};
  const RunId run = StartSpec(1, Parent({Ask("ask"), StartOf("sub", "child")}, "child", child));
  ASSERT_TRUE(Approve("bob", run));
  const RunId below = ChildOf(run);
  Sent();
  EndAll({1});
  const auto other = Retry("ann", below, With({Named("work"), Named("more")}));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kConflict);
}

TEST_F(ApprovalAttacks, AnOldChildIsNotRetriedBehindAnApprovalThatIsAskedAgain) {
  AddHosts(1);
  RunSpec child;
  child.job = "child";
  child.stages = {Named("work")};
  const RunId run = StartSpec(1, Parent({Ask("ask"), StartOf("sub", "child")}, "child", child));
  ASSERT_TRUE(Approve("bob", run));
  const RunId below = ChildOf(run);
  Sent();
  EndAll();
  RetryRun start;
  start.from_start = true;
  EXPECT_TRUE(Denied(Retry("ann", below, start)));
  EXPECT_TRUE(Denied(Retry("bob", below, start)));
}

TEST_F(ApprovalAttacks, ASecondVersionDoesNotRunTheBatchesThatTheFirstWasApprovedFor) {
  AddHosts(3);
  StageSpec roll = Rolling("roll", "1", OnLimit::kPause);
  roll.max_failures = *ParseHostShare("100%");
  roll.between_approve = NotStarter();
  const std::vector<StageSpec> stages{Named("before"), roll, In(1, "work")};
  const RunId run = StartJob(3, stages);
  Sent();
  EndAll();
  Sent();
  EndAll({1});
  ASSERT_TRUE(Asks(run, "roll"));
  Stop(run);
  EXPECT_TRUE(Denied(Retry("ann", run, With(stages))));
  EXPECT_TRUE(Denied(Retry("ann", run, With(stages, "roll"))));
  EXPECT_TRUE(Retry("ann", run, With(stages, "before")));
}

TEST_F(ApprovalAttacks, HostsDoNotReportHowAStageEnded) {
  AddHosts(2);
  for (const std::string word : {"succeeded", "default"}) {
    StageSpec check = Named("check");
    check.max_failures = *ParseHostShare("0");
    check.next["succeeded"] = 1;
    check.next["failed"] = 2;
    if (word == "default") check.next["default"] = 1;
    const RunId run = StartJob(2, {check, Named("go"), Ask("ask")});
    Sent();
    const auto both = std::exchange(orders_, {});
    orders_ = {both.front()};
    EndWith({{"status", word}});
    orders_ = {both.back()};
    EndAll({2});
    EXPECT_TRUE(Asks(run, "ask")) << word;
    EXPECT_EQ(Sent(), Hosts{}) << word;
    Stop(run);
  }
}

TEST_F(ApprovalAttacks, AHostThatDroppedOutHasNotPassed) {
  AddHosts(2);
  StageSpec roll = With("roll", SequenceAction{});
  roll.max_failures = *ParseHostShare("1");
  StageSpec ask = Ask("ask");
  ask.parent = 0;
  const RunId run = StartJob(2, {roll, In(0, "prepare"), ask, Named("go")});
  Sent();
  EndAll({2});
  ASSERT_TRUE(Approve("bob", run));
  EXPECT_EQ(Sent(), (Hosts{1}));
  EndAll();
  EXPECT_TRUE(Denied(Retry("ann", run, Everywhere("go")))) << "h2 never came to the approval";
  Crash();
  EXPECT_TRUE(Denied(Retry("ann", run, Everywhere("go"))));
  EXPECT_TRUE(Denied(Retry("ann", run, From("go")))) << "it is asked inside a stage";
}

TEST_F(ApprovalAttacks, AStageThatIsLeftOutOfAGraphOpensOnlyWhatNeedsNoMore) {
  AddHosts(1);
  StageSpec look = Needing("look", {});
  look.when = "false";
  StageSpec ask = Ask("ask");
  ask.needs = std::vector<std::uint32_t>{0};
  const RunId run = StartJob(1, {look, Needing("go", {2}), ask});
  ASSERT_TRUE(Asks(run, "ask"));
  Stop(run);
  EXPECT_TRUE(Denied(Retry("ann", run, From("look"))));
  ASSERT_TRUE(Retry("bob", run, From("look")));
  EXPECT_TRUE(Asks(run, "ask"));
  EXPECT_EQ(Sent(), Hosts{}) << "nothing was approved";
}

TEST_F(ApprovalAttacks, APassOfAGraphAsksAgainForWhatDependsOnItsBeginning) {
  AddHosts(2);
  StageSpec ask = Ask("ask");
  ask.needs = std::vector<std::uint32_t>{1};
  StageSpec check = Needing("check", {});
  check.max_failures = *ParseHostShare("1");
  const RunId run = StartJob(2, {ask, check, Needing("go", {0})});
  Sent();
  EndAll({2});
  ASSERT_TRUE(Approve("bob", run));
  Sent();
  EndAll();
  EXPECT_TRUE(Denied(Retry("ann", run)));
  ASSERT_TRUE(Retry("carl", run)) << "h2, from check";
  EXPECT_EQ(Sent(), (Hosts{2}));
  EXPECT_EQ(StageNow(), "check");
  EndAll();
  EXPECT_TRUE(Asks(run, "ask"));
  EXPECT_EQ(Sent(), Hosts{});
}

TEST_F(ApprovalAttacks, APassIsNotOpenedWhileAChildIsOpen) {
  AddHosts(1);
  RunSpec child;
  child.job = "child";
  child.stages = {Named("one"), Named("two")};
  const RunId run = StartSpec(1, Parent({Ask("ask"), StartOf("sub", "child")}, "child", child));
  ASSERT_TRUE(Approve("bob", run));
  Sent();
  Pause(run);
  EndAll();
  const auto again = Retry("bob", run, From("ask"));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kConflict);
}

TEST_F(ApprovalAttacks, TheFirstBatchIsFreeOnlyOnce) {
  AddHosts(3);
  StageSpec prepare = Named("prepare");
  prepare.max_failures = *ParseHostShare("2");
  StageSpec roll = Rolling("roll", "1,2", OnLimit::kPause);
  roll.between_approve = NotStarter();
  const RunId run = StartJob(3, {prepare, roll, In(1, "work")});
  Sent();
  EndAll();
  EXPECT_EQ(Sent(), (Hosts{1}));
  EndAll();
  ASSERT_TRUE(Asks(run, "roll"));
  Stop(run);
  ASSERT_TRUE(Retry("ann", run, Everywhere("prepare")));
  Sent();
  EndAll({1});  // so that the first batch is h2
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_TRUE(Asks(run, "roll"));
  Crash();
  ASSERT_TRUE(Approve("bob", run));
  EXPECT_EQ(Sent(), (Hosts{2}));
}

TEST_F(ApprovalAttacks, ARunThatWaitsForItsKeysGoesOnWaitingAfterAPause) {
  AddHosts(1);
  RunSpec spec;
  spec.job = "job";
  spec.stages = {Named("work")};
  spec.limits = {{.key = "one", .max = 1}};
  const RunId first = StartSpec(1, spec);
  const RunId second = StartSpec(1, spec);
  ASSERT_EQ(Find(second).state, RunState::kQueued);
  Pause(second);
  Sent();
  EndAll();
  ASSERT_EQ(Find(first).state, RunState::kSucceeded);
  ASSERT_TRUE(Do(ResumeRun{.caller = As("ann"), .run = second}));
  EXPECT_EQ(Sent(), (Hosts{1}));
}

}  // namespace
}  // namespace muster::engine
