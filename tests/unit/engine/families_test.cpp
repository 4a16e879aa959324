#include "flow_fixture.hpp"

namespace muster::engine {
namespace {

// Runs and the runs below them: what they hold together, and how they end together.
class Families : public FlowFixture {
 protected:
  static RunSpec Parent(bool waits, RunSpec child) {
    child.job = "child";
    RunSpec spec;
    spec.job = "parent";
    spec.jobs["child"] = std::make_shared<const RunSpec>(std::move(child));
    spec.stages = {With("sub", JobAction{.job = "child", .params = {}, .wait = waits})};
    return spec;
  }
  static RunSpec OneStage() {
    RunSpec spec;
    spec.stages = {Named("work")};
    return spec;
  }
  RunId StartOther() {
    RunSpec spec = OneStage();
    spec.limits = {{.key = "k", .max = 1}};
    return StartSpec(1, spec);
  }
  RetryRun RetryOf(RunId run) {
    RetryRun retry;
    retry.run = run;
    retry.from_start = true;
    retry.known = *store_.ReadWholeRun(run);
    return retry;
  }
  // A parent that has the key and ended; its child works on.
  std::pair<RunId, RunId> LeaveChildBehind() {
    RunSpec spec = Parent(false, OneStage());
    spec.limits = {{.key = "k", .max = 1}};
    const RunId parent = StartSpec(1, spec);
    EXPECT_EQ(Find(parent).state, RunState::kSucceeded);
    EXPECT_EQ(Sent(), Hosts{1});
    return {parent, orders_.front().task.run};
  }
};

TEST_F(Families, ParentThatEndedKeepsItsKeyWhileItsChildWorks) {
  AddHosts(1);
  LeaveChildBehind();
  const auto work = orders_;
  const RunId other = StartOther();
  EXPECT_EQ(Find(other).state, RunState::kQueued);
  orders_ = work;
  Crash();
  EXPECT_EQ(Find(other).state, RunState::kQueued);
  EndAll();
  Settle();
  EXPECT_EQ(Sent(), Hosts{1}) << "the other one's turn";
  EXPECT_EQ(orders_.front().task.run, other);
}

TEST_F(Families, PassOfAnEndedRunTakesTheKeysAgain) {
  AddHosts(1);
  const RunId first = StartOther();
  Sent();
  EndAll();
  const RunId second = StartOther();
  EXPECT_EQ(Sent(), Hosts{1});
  const auto refused = Do(RetryOf(first));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
  EXPECT_NE(refused.error().message.find(FormatRunId(second)), std::string::npos);
  EndAll();
  EXPECT_TRUE(Do(RetryOf(first)));
  EXPECT_EQ(Sent(), Hosts{1});
  const RunId third = StartOther();
  EXPECT_EQ(Find(third).state, RunState::kQueued) << "the retried run has the key";
}

TEST_F(Families, PassOfAChildTakesTheKeysOfTheParentThatEnded) {
  AddHosts(1);
  const auto [parent, child] = LeaveChildBehind();
  EndAll();
  Settle();
  const RunId other = StartOther();
  EXPECT_EQ(Sent(), Hosts{1});
  const auto refused = Do(RetryOf(child));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(FormatRunId(other)), std::string::npos);
  EndAll();
  EXPECT_TRUE(Do(RetryOf(child)));
  EXPECT_EQ(Sent(), Hosts{1});
  EXPECT_EQ(Find(StartOther()).state, RunState::kQueued) << "the retried child has the key";
}

TEST_F(Families, NoPassBeginsBesideChildrenOfTheOneBefore) {
  AddHosts(1);
  const auto [parent, child] = LeaveChildBehind();
  const auto refused = Do(RetryOf(parent));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(FormatRunId(child)), std::string::npos);
  EndAll();
  EXPECT_TRUE(Do(RetryOf(parent)));
}

TEST_F(Families, StopReachesChildrenThatNobodyWaitsFor) {
  AddHosts(1);
  RunSpec spec = Parent(false, OneStage());
  spec.stages.push_back(With("wait", WaitAction{.time = std::chrono::hours(1), .until = {}}));
  const RunId parent = StartSpec(1, spec);
  EXPECT_EQ(Sent(), Hosts{1});
  const RunId child = orders_.front().task.run;
  EXPECT_TRUE(Do(StopRun{.caller = {}, .run = parent, .host = {}, .reason = {}, .known = {}}));
  ASSERT_EQ(frames_.size(), 1U);
  EXPECT_EQ(frames_.front().frame.kills.size(), 1U);
  EXPECT_TRUE(Find(child).stop);
}

TEST_F(Families, EndOfTheBudgetReachesThemToo) {
  AddHosts(1);
  RunSpec spec = Parent(false, OneStage());
  spec.stages.push_back(Named("work"));
  spec.timeout = std::chrono::minutes(1);
  const RunId parent = StartSpec(1, spec);
  EXPECT_EQ(Sent(), (Hosts{1, 1}));
  Advance(std::chrono::minutes(2));
  std::size_t kills = 0;
  for (const auto& outgoing : frames_) kills += outgoing.frame.kills.size();
  EXPECT_EQ(kills, 2U);
  EndAll();
  EXPECT_EQ(Find(parent).state, RunState::kTimedOut);
}

}  // namespace
}  // namespace muster::engine
