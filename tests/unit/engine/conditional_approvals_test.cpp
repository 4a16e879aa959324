#include "approvals_fixture.hpp"

// Approvals that are asked only on some courses, and courses that lead around them.
namespace muster::engine {
namespace {

class ConditionalApprovals : public Approvals {
 protected:
  static StageSpec AskIf(std::string when) {
    StageSpec ask = Ask("ask");
    ask.when = std::move(when);
    return ask;
  }
  static RetryRun Everywhere(std::string from) {
    RetryRun retry = From(std::move(from));
    retry.all_hosts = true;
    return retry;
  }
  template <typename T>
  static bool Conflicts(const Result<T>& answer) {
    return !answer && answer.error().code == ErrorCode::kConflict;
  }
};

constexpr const char* kRisky = "stages.check.status == 'high'";

TEST_F(ConditionalApprovals, AreNotAvoidedByARetryThatLeavesTheCheckOut) {
  AddHosts(1);
  const RunId run = StartJob(1, {Named("check"), AskIf(kRisky), Named("go")});
  Sent();
  Stop(run);
  EndAll({1});
  EXPECT_TRUE(Denied(Retry("ann", run, Everywhere("ask")))) << "nothing has said that it is safe";
  EXPECT_TRUE(Retry("bob", run, Everywhere("ask"))) << "he may approve it";
}

// A pass knows what earlier passes found, and begins with hosts that its starter chose.
TEST_F(ConditionalApprovals, ARetryOfAnyFormNeedsTheRight) {
  AddHosts(2);
  const RunId run = StartJob(2, {Named("check"), AskIf(kRisky), Named("go")});
  Sent();
  EndWith({{"status", "low"}});
  Sent();
  EndAll({2});
  RetryRun start;
  start.from_start = true;
  EXPECT_TRUE(Denied(Retry("ann", run)));
  EXPECT_TRUE(Denied(Retry("ann", run, start)));
  EXPECT_TRUE(Denied(Retry("ann", run, Everywhere("check"))));
  Crash();
  EXPECT_TRUE(Denied(Retry("ann", run)));
  EXPECT_TRUE(Retry("bob", run)) << "he may approve it";
  EXPECT_EQ(Sent(), (Hosts{2}));
}

TEST_F(ConditionalApprovals, ALimitThatOutlivesItsPassNeedsTheRight) {
  AddHosts(1);
  StageSpec check = Named("check");
  check.next["failed"] = 1;
  check.next["succeeded"] = 2;
  const RunId run = StartJob(1, {check, Ask("ask"), Named("go")});
  Sent();
  EndAll({1});
  ASSERT_TRUE(Asks(run, "ask"));
  const auto set = Do(SetRun{.caller = As("ann"),
                             .run = run,
                             .stage = {},
                             .concurrency = {},
                             .max_failures = *ParseHostShare("100%")});
  EXPECT_TRUE(Denied(set));
}

TEST_F(ConditionalApprovals, AreNotAvoidedInTheMiddleOfABatch) {
  AddHosts(2);
  StageSpec ask = AskIf(kRisky);
  ask.parent = 0;
  for (const std::string how : {"pause", "stop"}) {
    const RunId run =
        StartJob(2, {Rolling("roll", "1,1", OnLimit::kPause), In(0, "check"), ask, In(0, "work")});
    Sent();
    EndWith({{"status", "high"}});
    ASSERT_TRUE(Asks(run, "ask")) << how;
    if (how == "pause")
      Pause(run);
    else
      Stop(run);
    EXPECT_TRUE(Denied(Retry("ann", run))) << "the host would begin behind the check";
    EXPECT_TRUE(Denied(Retry("ann", run, Everywhere("roll")))) << how;
    EXPECT_EQ(Sent(), Hosts{}) << how;
    if (how == "pause") Stop(run);
  }
}

TEST_F(ConditionalApprovals, OnThePassAreNotAvoidedByTheNextPass) {
  AddHosts(1);
  const RunId run = StartJob(1, {AskIf("run.pass == '1'"), Named("go")});
  ASSERT_TRUE(Asks(run, "ask"));
  Stop(run);
  EXPECT_TRUE(Denied(Retry("ann", run)));
  EXPECT_TRUE(Retry("bob", run));
  EXPECT_EQ(Sent(), (Hosts{1}));
}

TEST_F(ConditionalApprovals, AreNotAvoidedByAStageTwoConditionsAway) {
  AddHosts(1);
  StageSpec second = Named("second");
  second.when = "stages.first.status == 'more'";
  const RunId run = StartJob(
      1, {Named("first"), second, AskIf("stages.second.state == 'succeeded'"), Named("go")});
  Sent();
  EXPECT_TRUE(Denied(Skip("ann", run, "first")));
  EXPECT_TRUE(Denied(Skip("ann", run, "second")));
}

TEST_F(ConditionalApprovals, OfAChildAreNotAvoidedByWhatItsParametersAreMadeOf) {
  AddHosts(1);
  RunSpec child;
  child.job = "child";
  child.params = {{.name = "risk", .value = ""}};
  child.stages = {AskIf("params.risk == 'high'"), Named("work")};
  RunSpec spec;
  spec.job = "parent";
  spec.jobs["child"] = std::make_shared<const RunSpec>(child);
  spec.stages = {
      Named("check"),
      With("sub", JobAction{.job = "child", .params = {{"risk", "${{ stages.check.status }}"}}})};
  const RunId run = StartSpec(1, spec);
  Sent();
  EXPECT_TRUE(Denied(Skip("ann", run, "check")));
  Stop(run);
  EndAll({1});
  EXPECT_TRUE(Denied(Retry("ann", run, Everywhere("sub"))));
}

TEST_F(ConditionalApprovals, AreAskedForAgainInALoop) {
  AddHosts(1);
  StageSpec work = Named("work");
  work.next["again"] = 0;
  for (const std::string how : {"reject", "stop"}) {
    const RunId run = StartJob(1, {Ask("ask"), work, Named("end")});
    ASSERT_TRUE(Approve("bob", run));
    Sent();
    EndWith({{"status", "again"}});
    ASSERT_TRUE(Asks(run, "ask")) << "the second time";
    if (how == "reject") ASSERT_TRUE(Approve("bob", run, false));
    if (how == "stop") Stop(run);
    EXPECT_TRUE(Denied(Retry("ann", run, From("work")))) << how;
    EXPECT_TRUE(Denied(Retry("ann", run, Everywhere("work")))) << how;
    Crash();
    EXPECT_TRUE(Denied(Retry("ann", run, Everywhere("work")))) << how;
    EXPECT_TRUE(Denied(Retry("ann", run))) << how;
  }
}

TEST_F(ConditionalApprovals, AreNotRemovedByAnotherVersion) {
  AddHosts(1);
  const std::vector<StageSpec> stages{Named("a"), Ask("ask"), Named("go")};
  const RunId run = StartJob(1, stages);
  Sent();
  EndAll();
  Pause(run);
  const auto changed = [&](auto change) {
    auto other = stages;
    change(other);
    return Retry("writer", run, With(other, "a"));
  };
  EXPECT_TRUE(Denied(changed([](auto& other) { other[1].when = "false"; })));
  EXPECT_TRUE(Denied(changed([](auto& other) { other[0].next["succeeded"] = 2; })));
  EXPECT_TRUE(Denied(changed([](auto& other) {
    std::get<ApproveAction>(other[1].action).timeout = std::chrono::seconds(1);
    other[1].next["failed"] = 2;
  })));
  EXPECT_TRUE(changed([](auto& other) { other[2].concurrency = 1; }));
}

TEST_F(ConditionalApprovals, ThatWereGivenAreNotGivenForAnotherVersion) {
  AddHosts(1);
  const RunId run = StartJob(1, {Ask("ask"), Named("go")});
  ASSERT_TRUE(Approve("bob", run));
  Sent();
  EndAll({1});
  StageSpec never = AskIf("false");
  EXPECT_TRUE(Denied(Retry("writer", run, With({never, Named("go")}, "ask"))));
  EXPECT_TRUE(Denied(Retry("writer", run, With({Named("go")}, "go"))));
}

TEST_F(ConditionalApprovals, AnAnswerIsForWhatWasShown) {
  AddHosts(1);
  const RunId run = StartJob(1, {Ask("ask"), Named("go")});
  const std::string first = Waiting(run);
  ASSERT_FALSE(first.empty());
  ASSERT_TRUE(Do(
      SetRun{.caller = As("ann"), .run = run, .stage = {}, .concurrency = 3, .max_failures = {}}));
  EXPECT_TRUE(Conflicts(ApproveAs("bob", run, first))) << "its limits are others now";
  const std::string second = Waiting(run);
  Pause(run);
  ASSERT_TRUE(Retry("ann", run, With({Ask("ask"), Named("go"), Named("more")}, "ask")));
  EXPECT_TRUE(Conflicts(ApproveAs("bob", run, second))) << "its plan is another now";
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_TRUE(ApproveAs("bob", run, Waiting(run)));
  EXPECT_EQ(Sent(), (Hosts{1}));
  EXPECT_TRUE(Conflicts(ApproveAs("bob", run, second))) << "nothing waits any more";
}

TEST_F(ConditionalApprovals, AnAnswerIsForOneBatch) {
  AddHosts(3);
  StageSpec roll = Rolling("roll", "1,1,1", OnLimit::kPause);
  roll.between_approve = NotStarter();
  const RunId run = StartJob(3, {roll, In(0, "work")});
  Sent();
  EndAll();
  const std::string first = Waiting(run);
  ASSERT_TRUE(ApproveAs("bob", run, first));
  EXPECT_EQ(Sent(), (Hosts{2}));
  EndAll();
  ASSERT_TRUE(Asks(run, "roll"));
  EXPECT_TRUE(Conflicts(ApproveAs("bob", run, first)));
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_TRUE(ApproveAs("bob", run, Waiting(run)));
  EXPECT_EQ(Sent(), (Hosts{3}));
}

}  // namespace
}  // namespace muster::engine
