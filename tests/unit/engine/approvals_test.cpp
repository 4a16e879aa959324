#include "approvals_fixture.hpp"
#include "trigger_fixture.hpp"

namespace muster::engine {
namespace {

TEST_F(Approvals, SkippingOneNeedsTheRightToApproveIt) {
  AddHosts(1);
  const RunId run = StartJob(1, {Ask("ask"), Named("go")});
  EXPECT_TRUE(Denied(Skip("ann", run, "ask"))) << "she started it";
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_TRUE(Skip("bob", run, "ask"));
  EXPECT_EQ(Sent(), (Hosts{1}));
  EXPECT_NE(Facts("run.skip").find(R"("approvals":["ask"],"starters":["ann"],"stage":"ask")"),
            std::string::npos);
}

TEST_F(Approvals, SkippingOneThatIsStillToComeNeedsItToo) {
  AddHosts(1);
  const RunId run = StartJob(
      1, {Named("a"), With("ask", ApproveAction{.message = "?", .by = {"carl"}}), Named("go")});
  Sent();
  EXPECT_TRUE(Denied(Skip("bob", run, "ask")));
  EXPECT_TRUE(Skip("carl", run, "ask"));
  EndAll();
  EXPECT_EQ(Sent(), (Hosts{1}));
}

TEST_F(Approvals, BeginningBehindOneNeedsTheRightToApproveIt) {
  AddHosts(1);
  const RunId run = StartJob(1, {Ask("ask"), Named("go")});
  Pause(run);
  EXPECT_TRUE(Denied(Retry("ann", run, From("go"))));
  EXPECT_EQ(Find(run).pass, 1U) << "a refused retry changes nothing";
  EXPECT_TRUE(Asks(run, "ask"));
  Crash();
  EXPECT_TRUE(Denied(Retry("ann", run, From("go"))));
  EXPECT_TRUE(Retry("bob", run, From("go")));
  EXPECT_EQ(Sent(), (Hosts{1}));
  EXPECT_NE(Facts("run.retry").find(R"("approvals":["ask"])"), std::string::npos);
}

// The right was needed, as the job asks on some courses only; nothing was left out.
TEST_F(Approvals, APassThatAsksAgainGoesAroundNothing) {
  AddHosts(1);
  StageSpec ask = Ask("ask");
  ask.when = "stages.look.status != 'fine'";
  const RunId run = StartJob(1, {Named("look"), ask, Named("go")});
  Sent();
  EndAll();
  Pause(run);
  EXPECT_TRUE(Denied(Retry("ann", run, From("ask"))));
  EXPECT_TRUE(Retry("bob", run, From("ask")));
  EXPECT_TRUE(Asks(run, "ask"));
  EXPECT_EQ(Facts("run.retry").find("approvals"), std::string::npos) << Facts("run.retry");
}

TEST_F(Approvals, BeginningBehindOneThatWasGivenNeedsNothing) {
  AddHosts(2);
  const RunId run = StartJob(2, {Ask("ask"), Named("go")});
  ASSERT_TRUE(Approve("bob", run));
  Sent();
  EndAll({2});
  EXPECT_TRUE(Retry("ann", run));
  EXPECT_EQ(Sent(), (Hosts{2}));
  EndAll();
  EXPECT_TRUE(Retry("ann", run, From("go")));
  EXPECT_EQ(Sent(), (Hosts{1, 2}));
  EndAll();
}

TEST_F(Approvals, ARejectedOneIsAskedForAgain) {
  AddHosts(1);
  const RunId run = StartJob(1, {Ask("ask"), Named("go")});
  ASSERT_TRUE(Approve("bob", run, false));
  EXPECT_TRUE(Denied(Retry("ann", run, From("go"))));
  EXPECT_TRUE(Retry("ann", run));
  EXPECT_TRUE(Asks(run, "ask"));
  EXPECT_EQ(Sent(), Hosts{});
}

TEST_F(Approvals, HostsThatCameNotToItAreNotCovered) {
  AddHosts(2);
  StageSpec prepare = Named("prepare");
  prepare.max_failures = *ParseHostShare("1");
  const RunId run = StartJob(2, {prepare, Ask("ask"), Named("go")});
  Sent();
  EndAll({2});
  ASSERT_TRUE(Approve("bob", run));
  EXPECT_EQ(Sent(), (Hosts{1}));
  EndAll({1});
  RetryRun everywhere = From("go");
  everywhere.all_hosts = true;
  EXPECT_TRUE(Denied(Retry("ann", run, everywhere))) << "h2 never came to the approval";
  EXPECT_TRUE(Retry("ann", run, From("go")));
  EXPECT_EQ(Sent(), (Hosts{1}));
}

TEST_F(Approvals, WhoeverRetriedIsOneOfTheStarters) {
  AddHosts(1);
  const RunId run = StartJob(1, {Named("a"), Ask("ask"), Named("go")});
  Sent();
  EndAll({1});
  ASSERT_TRUE(Retry("bob", run));
  Sent();
  EndAll();
  Crash();
  EXPECT_TRUE(Denied(Approve("ann", run)));
  EXPECT_TRUE(Denied(Approve("bob", run)));
  EXPECT_TRUE(Approve("carl", run));
  EXPECT_NE(Facts("run.approve").find(R"("starters":["ann","bob"],"stage":"ask")"),
            std::string::npos);
}

TEST_F(Approvals, WhoeverChangedItsLimitsOrPlanIsOneOfTheStarters) {
  AddHosts(1);
  const RunId run = StartJob(1, {Named("a"), Named("check"), Ask("ask"), Named("go")});
  ASSERT_TRUE(Do(
      SetRun{.caller = As("bob"), .run = run, .stage = {}, .concurrency = 3, .max_failures = {}}));
  ASSERT_TRUE(Skip("carl", run, "check"));
  Sent();
  EndAll();
  EXPECT_TRUE(Denied(Approve("bob", run)));
  EXPECT_TRUE(Denied(Approve("carl", run)));
  EXPECT_TRUE(Approve("dora", run));
}

TEST_F(Approvals, AnotherVersionIsNotWhatWasApproved) {
  AddHosts(1);
  const RunId run = StartJob(1, {Ask("ask"), Named("go")});
  ASSERT_TRUE(Approve("bob", run));
  Sent();
  EndAll({1});
  const auto same = [] { return With({Ask("ask"), Named("go")}); };
  EXPECT_TRUE(Denied(Retry("ann", run, same())));
  EXPECT_TRUE(Denied(Retry("writer", run, same()))) << "the version is his";
  EXPECT_TRUE(Retry("ann", run, With({Ask("ask"), Named("go")}, "ask")));
  EXPECT_TRUE(Denied(Approve("writer", run))) << "the version is his";
  EXPECT_TRUE(Approve("bob", run));
  Sent();
  EndAll({1});
  EXPECT_TRUE(Retry("bob", run, same())) << "it has the effect of approving it";
  EXPECT_EQ(Sent(), (Hosts{1}));
  EXPECT_NE(Facts("run.retry").find(R"("approvals":["ask"],"starters":["ann","writer","bob"])"),
            std::string::npos)
      << Facts("run.retry");
}

TEST_F(Approvals, AnotherVersionMustNotLeaveOneOut) {
  AddHosts(1);
  const RunId run = StartJob(1, {Named("a"), Ask("ask"), Named("go")});
  Sent();
  EndAll();
  Pause(run);
  EXPECT_TRUE(Denied(Retry("writer", run, With({Named("a"), Named("go")}, "a"))));
  EXPECT_TRUE(Denied(Retry("writer", run, With({Named("a"), Named("go"), Ask("ask")}, "a"))));
  ApproveAction weaker = NotStarter();
  weaker.not_starter = false;
  EXPECT_TRUE(
      Denied(Retry("writer", run, With({Named("a"), With("ask", weaker), Named("go")}, "a"))));
  EXPECT_TRUE(Retry("writer", run, With({Named("a"), Ask("ask"), Named("go")}, "a")));
}

TEST_F(Approvals, ABranchThatAsksIsNotJumped) {
  AddHosts(1);
  StageSpec check = Named("check");
  check.next["risky"] = 2;
  StageSpec ask = Ask("ask");
  ask.section = Section::kBranch;
  ask.next["succeeded"] = 1;
  const RunId run = StartJob(1, {check, Named("go"), ask});
  Sent();
  EXPECT_TRUE(Denied(Skip("ann", run, "check"))) << "it may lead to the approval";
  EndWith({{"status", "risky"}});
  ASSERT_TRUE(Asks(run, "ask"));
  Pause(run);
  EXPECT_TRUE(Denied(Retry("ann", run, From("go"))));
  EXPECT_TRUE(Retry("bob", run, From("go")));
  EXPECT_EQ(Sent(), (Hosts{1}));
}

TEST_F(Approvals, AStageThatAnApprovalLooksAtIsNotSkipped) {
  AddHosts(1);
  StageSpec ask = Ask("ask");
  ask.when = "stages.plan.outputs.changes | default: 'no' != 'no'";
  const RunId run = StartJob(1, {Named("plan"), Named("other"), ask, Named("go")});
  Sent();
  EXPECT_TRUE(Denied(Skip("ann", run, "plan")));
  EXPECT_TRUE(Denied(Skip("ann", run, "other"))) << "what a script finds may depend on it";
  EXPECT_TRUE(Skip("bob", run, "other"));
}

TEST_F(Approvals, TheNextBatchIsAskedForAgainAfterARetry) {
  AddHosts(3);
  for (const std::string how : {"pause", "stop", "reject", "time"}) {
    const RunId run = StartJob(3, AskedBetween());
    EXPECT_EQ(Sent(), (Hosts{1}));
    EndAll();
    ASSERT_TRUE(Asks(run, "roll")) << how;
    EXPECT_TRUE(Denied(Skip("ann", run, "roll")));
    if (how == "pause") Pause(run);
    if (how == "stop") Stop(run);
    if (how == "reject") ASSERT_TRUE(Approve("bob", run, false));
    if (how == "time") Advance(std::chrono::hours(25));
    ASSERT_TRUE(Retry("ann", run)) << how;
    EXPECT_EQ(Sent(), Hosts{}) << how;
    ASSERT_TRUE(Asks(run, "roll")) << how;
    Crash();
    EXPECT_TRUE(Denied(Approve("ann", run))) << how;
    ASSERT_TRUE(Approve("bob", run)) << how;
    EXPECT_EQ(Sent(), (Hosts{2, 3})) << how;
    EXPECT_EQ(Find(run).stages[0].batch, 2U) << how;
    EndAll();
    EXPECT_EQ(Sent(), (Hosts{1, 2, 3})) << how;
    EXPECT_EQ(StageNow(), "after") << how;
    EndAll();
    EXPECT_EQ(Find(run).state, RunState::kSucceeded) << how;
  }
}

TEST_F(Approvals, AnInnerOneIsNotRetriedWithoutTheRight) {
  AddHosts(3);
  for (const std::string how : {"pause", "stop", "reject", "time"}) {
    const RunId run = StartJob(3, AskedInside());
    Sent();
    EndAll();
    ASSERT_TRUE(Asks(run, "ask")) << how;
    if (how == "pause") Pause(run);
    if (how == "stop") Stop(run);
    if (how == "reject") ASSERT_TRUE(Approve("bob", run, false));
    if (how == "time") Advance(std::chrono::hours(25));
    EXPECT_TRUE(Denied(Retry("ann", run))) << how;
    ASSERT_TRUE(Retry("bob", run)) << how;
    // It may be prepared again, but h1 does not work and nothing comes after the roll.
    for (int i = 0; i < 3 && !Asks(run, "ask"); ++i) {
      EXPECT_EQ(Sent(), (Hosts{1})) << how;
      EXPECT_EQ(StageNow(), "prepare") << how;
      EndAll();
    }
    ASSERT_TRUE(Asks(run, "ask")) << how;
    EXPECT_EQ(Sent(), Hosts{}) << how;
    EXPECT_TRUE(Denied(Approve("ann", run))) << how;
    EXPECT_TRUE(Denied(Approve("bob", run))) << "he retried it";
    ASSERT_TRUE(Approve("carl", run)) << how;
    EXPECT_EQ(Sent(), (Hosts{1})) << how;
    EXPECT_EQ(StageNow(), "work") << how;
    Stop(run);
    EndAll();
  }
}

TEST_F(Approvals, ThoseOfAChildCountForTheStageThatStartsIt) {
  AddHosts(1);
  RunSpec child;
  child.job = "child";
  child.stages = {Ask("ask"), Named("work")};
  RunSpec spec;
  spec.job = "parent";
  spec.jobs["child"] = std::make_shared<const RunSpec>(child);
  spec.stages = {With("sub", JobAction{.job = "child", .params = {}}), Named("after")};
  const RunId run = StartSpec(1, spec);
  const RunId below = store_.ListVisits(run, {}, 10)->front().child;
  ASSERT_TRUE(below);
  EXPECT_TRUE(Denied(Skip("ann", run, "sub")));
  EXPECT_TRUE(Denied(Skip("ann", below, "ask")));
  EXPECT_TRUE(Denied(Approve("ann", below)));
  ASSERT_TRUE(Do(
      SetRun{.caller = As("bob"), .run = run, .stage = {}, .concurrency = 3, .max_failures = {}}));
  EXPECT_TRUE(Denied(Approve("bob", below))) << "he changed the run above it";
  Pause(run);
  const auto behind = Retry("ann", run, From("after"));
  ASSERT_FALSE(behind) << "the child is open";
  EXPECT_EQ(behind.error().code, ErrorCode::kConflict);
  ASSERT_TRUE(Do(ResumeRun{.caller = As("ann"), .run = run}));
  EXPECT_TRUE(Approve("carl", below));
  EXPECT_EQ(Sent(), (Hosts{1}));
}

TEST_F(Approvals, WhoeverChangedAChildChangedTheRunsAboveIt) {
  AddHosts(1);
  RunSpec child;
  child.job = "child";
  child.stages = {Named("work")};
  RunSpec spec;
  spec.job = "parent";
  spec.jobs["child"] = std::make_shared<const RunSpec>(child);
  spec.stages = {With("sub", JobAction{.job = "child", .params = {}}), Ask("ask"), Named("after")};
  const RunId run = StartSpec(1, spec);
  const RunId below = store_.ListVisits(run, {}, 10)->front().child;
  ASSERT_TRUE(Do(SetRun{
      .caller = As("bob"), .run = below, .stage = {}, .concurrency = 3, .max_failures = {}}));
  Sent();
  EndAll();
  EXPECT_TRUE(Denied(Approve("bob", run)));
  EXPECT_TRUE(Approve("carl", run));
}

class TriggeredApprovals : public TriggerFixture {
 protected:
  Result<RunSteered> Approve(const std::string& who, RunId run) {
    return Asked(AnswerApproval{.caller = {.request = {}, .name = who, .address = {}},
                                .run = run,
                                .stage = {},
                                .approved = true,
                                .comment = {}});
  }
  RunId OnlyOpenRun() {
    const auto& runs = pipeline_->engine()->state().runs.open;
    return runs.size() == 1 ? runs.begin()->first : RunId{};
  }
};

TEST_F(TriggeredApprovals, AreNotForTheAuthorsNorForWhoBackfills) {
  plan_ = [this](const PrepareSlot&) -> Result<SlotPlan> {
    SlotPlan plan = WaitPlan();
    plan.spec.stages.clear();
    plan.spec.stages.push_back(
        With("ask", ApproveAction{.message = "?", .by = {}, .not_starter = true}));
    plan.authors = {"writer"};
    return plan;
  };
  Apply(Spec("hourly", "0 * * * *"));  // by ann
  Away(3 * kHour + 30 * kMinute);
  ASSERT_TRUE(Steer(PauseTrigger{}, "hourly"));
  const RunId missed = OnlyOpenRun();
  ASSERT_TRUE(missed);
  Restart();
  EXPECT_EQ(Approve("ann", missed).error().code, ErrorCode::kDenied) << "the trigger is hers";
  EXPECT_EQ(Approve("writer", missed).error().code, ErrorCode::kDenied) << "the job is his";
  EXPECT_TRUE(Approve("bob", missed));
  BackfillTrigger backfill{.from = At(9), .to = At(9)};
  backfill.caller.name = "bob";
  backfill.name = "hourly";
  backfill.known = Known("hourly");
  ASSERT_TRUE(Asked(backfill));
  const RunId past = OnlyOpenRun();
  ASSERT_TRUE(past);
  EXPECT_EQ(Approve("bob", past).error().code, ErrorCode::kDenied) << "he asked for it";
  EXPECT_EQ(Approve("ann", past).error().code, ErrorCode::kDenied);
  EXPECT_TRUE(Approve("carl", past));
}

}  // namespace
}  // namespace muster::engine
