#include "flow_fixture.hpp"

namespace muster::engine {
namespace {

// What a run came to on its hosts, and what is shown of them meanwhile.
class Results : public FlowFixture {
 protected:
  static StageSpec Cleanup() {
    StageSpec stage = Named("cleanup");
    stage.section = Section::kFinally;
    stage.hosts = HostChoice::kAll;
    return stage;
  }
  TaskCounts Now(RunId run) { return pipeline_->engine()->state().runs.open.at(run).counts; }
  static TaskCounts Of(std::initializer_list<std::pair<TaskState, std::uint32_t>> counts) {
    TaskCounts all;
    for (const auto& [state, count] : counts) all[state] = count;
    return all;
  }
};

TEST_F(Results, CleanupHidesNoFailure) {
  AddHosts(3);
  const RunId run = StartJob(3, {Named("upgrade"), Cleanup()});
  Sent();
  EndAll({2});
  EXPECT_EQ(Sent(), (Hosts{1, 2, 3}));
  EndAll();
  EXPECT_EQ(Find(run).state, RunState::kFailed);
  EXPECT_EQ(Find(run).counts, Of({{TaskState::kSucceeded, 2}, {TaskState::kFailed, 1}}));
  EXPECT_EQ(ExitCodeOf(Find(run).counts), 1);
}

TEST_F(Results, NothingHasSucceededBeforeTheLastStage) {
  AddHosts(3);
  StageSpec second = Named("upgrade");
  second.concurrency = 1;
  const RunId run = StartJob(3, {Named("precheck"), second, Cleanup()});
  Sent();
  EndAll();
  EXPECT_EQ(Now(run), Of({{TaskState::kWaiting, 2}, {TaskState::kSent, 1}}));
  Sent();
  EndAll();
  EXPECT_EQ(Now(run),
            Of({{TaskState::kWaiting, 1}, {TaskState::kSent, 1}, {TaskState::kSucceeded, 1}}));
  Crash();
  EXPECT_EQ(Now(run)[TaskState::kSucceeded], 1U);
  EXPECT_EQ(Now(run)[TaskState::kWaiting], 1U);
}

TEST_F(Results, LoopThatGoesWellInTheEndIsNoFailure) {
  AddHosts(1);
  StageSpec poll = Named("poll");
  poll.max_visits = 5;
  poll.next["failed"] = 0;
  poll.hosts = HostChoice::kAll;
  poll.recovers = true;
  const RunId run = StartJob(1, {poll});
  for (int i = 0; i < 2; ++i) {
    Sent();
    EndAll({1});
  }
  Sent();
  EndAll();
  EXPECT_EQ(Find(run).counts, Of({{TaskState::kSucceeded, 1}}));
}

TEST_F(Results, StageThatRecoversClearsOnItsHosts) {
  AddHosts(3);
  StageSpec upgrade = Named("upgrade");
  upgrade.next["failed"] = 1;
  StageSpec repair = Named("repair");
  repair.section = Section::kBranch;
  repair.hosts = HostChoice::kFailed;
  repair.recovers = true;
  repair.max_failures = {.number = 1};
  const RunId run = StartJob(3, {upgrade, repair});
  Sent();
  EndAll({1, 2});
  EXPECT_EQ(Sent(), (Hosts{1, 2}));
  EndAll({2});
  EXPECT_EQ(Find(run).counts, Of({{TaskState::kSucceeded, 2}, {TaskState::kFailed, 1}}));
}

TEST_F(Results, HostsWithoutATaskInAPassKeepTheirResult) {
  AddHosts(3);
  StageSpec only = Named("only");
  only.max_failures = {.number = 3};
  const RunId run = StartJob(3, {only});
  Sent();
  EndAll({1, 2});
  EXPECT_EQ(Find(run).counts, Of({{TaskState::kSucceeded, 1}, {TaskState::kFailed, 2}}));
  RetryRun retry;
  retry.run = run;
  retry.known = *store_.ReadWholeRun(run);
  ASSERT_TRUE(Do(std::move(retry)));
  EXPECT_EQ(Sent(), (Hosts{1, 2}));
  EndAll({2});
  EXPECT_EQ(Find(run).counts, Of({{TaskState::kSucceeded, 2}, {TaskState::kFailed, 1}}));
}

TEST_F(Results, OfARunThatAStageStartedAreThoseOfItsHosts) {
  AddHosts(3);
  RunSpec child;
  child.job = "child";
  child.stages = {Named("down"), Cleanup()};
  child.stages[0].max_failures = {.number = 3};
  RunSpec spec;
  spec.job = "parent";
  spec.jobs["child"] = std::make_shared<const RunSpec>(child);
  spec.stages = {With("sub", JobAction{.job = "child", .params = {}}), Cleanup()};
  const RunId run = StartSpec(3, spec);
  Sent();
  EndAll({3});
  for (int i = 0; i < 2; ++i) {
    Sent();
    EndAll();
  }
  EXPECT_EQ(Find(run).counts, Of({{TaskState::kSucceeded, 2}, {TaskState::kFailed, 1}}));
}

// The child's `work` fails on h2, and its branch repairs h2 and fails on h3.
TEST_F(Results, ParentGoesOnWithTheHostsThatAreWellInTheChild) {
  AddHosts(3);
  RunSpec child;
  child.job = "child";
  StageSpec repair = Named("repair");
  repair.section = Section::kBranch;
  repair.hosts = HostChoice::kAll;
  repair.recovers = true;
  child.stages = {Named("work"), repair};
  child.stages[0].next["failed"] = 1;
  for (const std::uint32_t tolerated : {0U, 1U}) {
    child.stages[1].max_failures = {.number = tolerated};
    RunSpec spec;
    spec.job = "parent";
    spec.jobs["child"] = std::make_shared<const RunSpec>(child);
    StageSpec undo = Named("undo");
    undo.section = Section::kFinally;
    undo.hosts = HostChoice::kFailed;
    StageSpec roll = Rolling("roll", "3", OnLimit::kPause);
    roll.max_failures = {.number = 1};
    spec.stages = {roll, In(0, "sub"), In(0, "check"), undo};
    spec.stages[1].action = JobAction{.job = "child", .params = {}};
    const RunId run = StartSpec(3, spec);
    Sent();
    EndAll({2});
    Sent();
    EXPECT_EQ(StageNow(), "repair");
    EndAll({3});
    EXPECT_EQ(Sent(), (Hosts{1, 2}));
    EXPECT_EQ(StageNow(), "check");
    EndAll();
    EXPECT_EQ(Sent(), (Hosts{3}));
    EXPECT_EQ(StageNow(), "undo");
    EndAll();
    EXPECT_EQ(Find(run).counts, Of({{TaskState::kSucceeded, 2}, {TaskState::kFailed, 1}}));
  }
}

}  // namespace
}  // namespace muster::engine
