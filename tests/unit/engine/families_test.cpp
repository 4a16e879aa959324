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
  // The task that was sent ends, and the server is killed when so many batches were committed.
  void EndAndKill(TaskState state, int commits) {
    const TaskKey task = orders_.front().task;
    link::Report report{
        .task = task, .kind = link::ReportKind::kEnded, .end = TaskEnd{}, .log = {}};
    report.end->state = state;
    report.end->exit_code = state == TaskState::kFailed ? 1 : 0;
    NodeReports reports{.link = link_of_.at(1), .session = session_of_.at(1), .reports = {}};
    reports.reports.push_back(
        {report, LogMark{LogState::kComplete, 0, kEmptySha256, kEmptySha256}});
    Tell(std::move(reports));
    for (int left = commits; left > 0 && held_; --left) {
      auto held = std::exchange(held_, std::nullopt);
      store_.Commit(held->batch, held->term, held->number, held->done);
      pipeline_->Drive(now_);
    }
    Lead();
    SayHello(1, {{.task = task, .state = link::HeldState::kEnded, .end = report.end}});
    Settle();
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

TEST_F(Families, ResumeOfTheParentLeavesAChildsOwnPauseAlone) {
  AddHosts(2);
  RunSpec child = OneStage();
  child.stages.front().concurrency = 1;
  const RunId parent = StartSpec(2, Parent(true, child));
  EXPECT_EQ(Sent(), Hosts{1});
  const RunId below = orders_.front().task.run;
  PauseRun pause;
  pause.run = below;
  EXPECT_TRUE(Do(pause));
  Advance(std::chrono::seconds(1));
  pause.run = parent;
  EXPECT_TRUE(Do(pause));
  EXPECT_TRUE(Do(ResumeRun{.caller = {}, .run = parent}));
  EXPECT_EQ(Find(parent).state, RunState::kRunning);
  EXPECT_EQ(Find(below).state, RunState::kPaused);
  EndAll();
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_TRUE(Do(ResumeRun{.caller = {}, .run = below}));
  EXPECT_EQ(Sent(), Hosts{2});
}

TEST_F(Families, ResumeOfTheParentDoesNotTakeAChildsFailures) {
  AddHosts(2);
  RunSpec child = OneStage();
  child.stages.front().batches = *ParseBatchPlan("1");
  child.stages.front().on_limit = OnLimit::kPause;
  const RunId parent = StartSpec(2, Parent(true, child));
  EXPECT_EQ(Sent(), Hosts{1});
  const RunId below = orders_.front().task.run;
  EndAll({1});
  EXPECT_EQ(Find(below).state, RunState::kPaused);
  PauseRun pause;
  pause.run = parent;
  EXPECT_TRUE(Do(pause));
  EXPECT_TRUE(Do(ResumeRun{.caller = {}, .run = parent}));
  EXPECT_EQ(Find(below).state, RunState::kPaused);
  EXPECT_EQ(Sent(), Hosts{});
}

TEST_F(Families, PauseReachesChildrenThatNobodyWaitsFor) {
  AddHosts(2);
  RunSpec child = OneStage();
  child.stages.front().concurrency = 1;
  RunSpec spec = Parent(false, child);
  spec.stages.push_back(With("wait", WaitAction{.time = std::chrono::hours(1), .until = {}}));
  const RunId parent = StartSpec(2, spec);
  EXPECT_EQ(Sent(), Hosts{1});
  const RunId below = orders_.front().task.run;
  PauseRun pause;
  pause.run = parent;
  EXPECT_TRUE(Do(pause));
  EXPECT_EQ(Find(below).state, RunState::kPaused);
  EndAll();
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_TRUE(Do(ResumeRun{.caller = {}, .run = parent}));
  EXPECT_EQ(Sent(), Hosts{2});
}

TEST_F(Families, StageThatWaitsForAChildEndsInTheBatchThatEndsIt) {
  AddHosts(1);
  for (int commits = 0; commits < 4; ++commits) {
    const RunId parent = StartSpec(1, Parent(true, OneStage()));
    ASSERT_EQ(Sent(), Hosts{1});
    EndAndKill(TaskState::kSucceeded, commits);
    EXPECT_EQ(Find(parent).state, RunState::kSucceeded) << "killed after " << commits;
  }
}

TEST_F(Families, StageAroundOneThatWaitsForAChildEndsInTheBatchThatEndsIt) {
  AddHosts(1);
  for (int commits = 0; commits < 4; ++commits) {
    RunSpec spec = Parent(true, OneStage());
    StageSpec inner = spec.stages.front();
    inner.parent = 0;
    spec.stages = {With("roll", SequenceAction{}), inner};
    const RunId parent = StartSpec(1, spec);
    ASSERT_EQ(Sent(), Hosts{1});
    EndAndKill(TaskState::kFailed, commits);
    EXPECT_EQ(Find(parent).state, RunState::kFailed) << "killed after " << commits;
  }
}

}  // namespace
}  // namespace muster::engine
