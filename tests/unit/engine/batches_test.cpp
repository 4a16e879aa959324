#include "flow_fixture.hpp"

namespace muster::engine {
namespace {

// What a batch must come to before the next one begins.
class Batches : public FlowFixture {
 protected:
  static StageSpec Stage(OnLimit on_limit) {
    StageSpec stage = Named("roll");
    stage.batches = *ParseBatchPlan("1,2");
    stage.on_limit = on_limit;
    return stage;
  }
  void WaitInVain() { Advance(std::chrono::minutes(1)); }
};

TEST_F(Batches, UnreachableCanaryOpensNoOtherBatch) {
  AddHosts(3);
  Cut(1);
  const RunId run = StartJob(3, {Stage(OnLimit::kFail)});
  WaitInVain();
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_EQ(Find(run).state, RunState::kFailed);
  EXPECT_EQ(Find(run).stages[0].reason, "no host was reached in batch 1");
}

TEST_F(Batches, PersonMayGoOnWithoutTheCanary) {
  AddHosts(3);
  Cut(1);
  const RunId run = StartJob(3, {Stage(OnLimit::kPause)});
  WaitInVain();
  EXPECT_EQ(Find(run).state, RunState::kPaused);
  EXPECT_EQ(Find(run).pause->reason, "no host was reached in batch 1 of stage roll");
  ResumeRun resume;
  resume.run = run;
  EXPECT_TRUE(Do(resume));
  EXPECT_EQ(Sent(), (Hosts{2, 3}));
}

TEST_F(Batches, SameOfAGroupOfStages) {
  AddHosts(3);
  Cut(1);
  const RunId run =
      StartJob(3, {Rolling("roll", "1,2", OnLimit::kPause), In(0, "drain"), In(0, "work")});
  WaitInVain();
  EXPECT_EQ(Find(run).state, RunState::kPaused);
  Crash();
  ResumeRun resume;
  resume.run = run;
  EXPECT_TRUE(Do(resume));
  EXPECT_EQ(Sent(), (Hosts{2, 3}));
  EndAll();
  EXPECT_EQ(Sent(), (Hosts{2, 3}));
  EndAll();
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
}

TEST_F(Batches, FailuresThatAreToleratedAreWork) {
  AddHosts(3);
  StageSpec stage = Stage(OnLimit::kFail);
  stage.max_failures = {.number = 100, .percent = true};
  StartJob(3, {stage});
  EXPECT_EQ(Sent(), Hosts{1});
  EndAll({1});
  EXPECT_EQ(Sent(), (Hosts{2, 3}));
}

TEST_F(Batches, UnreachableHostsThatAreToleratedAreNoWork) {
  AddHosts(3);
  Cut(1);
  StageSpec stage = Stage(OnLimit::kFail);
  stage.max_unreachable = HostShare{.number = 1};
  const RunId run = StartJob(3, {stage});
  WaitInVain();
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_EQ(Find(run).stages[0].reason, "no host was reached in batch 1");
}

TEST_F(Batches, MaxUnreachableSaysHowMany) {
  AddHosts(3);
  Cut(1);
  StageSpec stage = Stage(OnLimit::kFail);
  stage.batches = *ParseBatchPlan("2,1");
  stage.max_unreachable = HostShare{.number = 1};
  StartJob(3, {stage});
  EXPECT_EQ(Sent(), Hosts{2});
  EndAll();
  WaitInVain();
  EXPECT_EQ(Sent(), Hosts{3}) << "it was said that one may be";
  EndAll();
  stage.max_unreachable = HostShare{};
  const RunId run = StartJob(3, {stage});
  EXPECT_EQ(Sent(), Hosts{2});
  EndAll();
  WaitInVain();
  EXPECT_EQ(Find(run).stages[0].reason, "1 host was not reached in batch 1; 0 are tolerated");
}

TEST_F(Batches, RefusedHostIsAFailure) {
  features_ = {};
  AddHosts(3);
  muster::Command command;
  command.resources.memory = 1 << 20;
  StageSpec stage = Stage(OnLimit::kFail);
  stage.action = std::make_shared<const muster::Command>(command);
  stage.max_failures = HostShare{};
  const RunId run = StartJob(3, {stage});
  EXPECT_EQ(Find(run).state, RunState::kFailed);
  EXPECT_EQ(Find(run).stages[0].reason, "1 host failed in batch 1; 0 are tolerated");
}

}  // namespace
}  // namespace muster::engine
