#include "unit/engine/engine_fixture.hpp"

namespace muster::engine {
namespace {

class Stop : public EngineFixture {
 protected:
  RequestId AskStop(RunId run, std::optional<HostId> host = {}) {
    const auto id = Ask(StopRun{.caller = {},
                                .run = run,
                                .host = host,
                                .grace = Duration(1000),
                                .reason = "test",
                                .known = *store_.FindRun(run)});
    Settle();
    return id;
  }
};

TEST_F(Stop, KillsWhatRunsAndSkipsWhatWaits) {
  AddHosts(3);
  StageSpec stage;
  stage.concurrency = 1;
  const RunId run = Start(3, stage);
  const auto task = TakeOrders()[0];
  EXPECT_TRUE(replies_.at(AskStop(run)));
  EXPECT_EQ(TakeKills(), std::vector<TaskKey>{task});
  EXPECT_EQ(StateOf(run, 2), TaskState::kSkipped);
  End(task, TaskState::kKilled);
  EXPECT_EQ(Find(run).state, RunState::kCancelled);
}

TEST_F(Stop, IsOnRecordWithItsCommitAndTheEndWithItsOwn) {
  AddHosts(1);
  const RunId run = Start(1);
  const auto task = TakeOrders()[0];
  EXPECT_FALSE(Find(run).stop_commit);
  AskStop(run);
  const CommitNumber stopped = Find(run).stop_commit;
  EXPECT_EQ(stopped, store_.ReadFence()->number);
  EXPECT_FALSE(Find(run).ended_commit);
  AskStop(run);
  EXPECT_EQ(Find(run).stop_commit, stopped) << "the first wish counts";
  End(task, TaskState::kKilled);
  EXPECT_EQ(Find(run).ended_commit, store_.ReadFence()->number);
}

TEST_F(Stop, OfAnEndedRunIsAConflict) {
  AddHosts(1);
  const RunId run = Start(1);
  End(TakeOrders()[0]);
  EXPECT_EQ(replies_.at(AskStop(run)).error().code, ErrorCode::kConflict);
}

TEST_F(Stop, OfAnUnknownRunIsNotFound) {
  EXPECT_EQ(replies_.at(AskStop(RunId(99))).error().code, ErrorCode::kNotFound);
}

TEST_F(Stop, IsTheBoundThatPassedOfAHostThatStaysAway) {
  AddHosts(2);
  const RunId run = Start(2);
  const auto tasks = TakeOrders();
  Cut(1);
  EXPECT_TRUE(replies_.at(AskStop(run)));
  Advance(std::chrono::minutes(5));
  ASSERT_EQ(StateOf(run, 1), TaskState::kLost);
  ASSERT_EQ(StateOf(run, 2), TaskState::kLost);
  EXPECT_EQ(RecordOf(run, 1).reason,
            "the host was away until the time for its stop was over; the command may still run "
            "there");
  EXPECT_EQ(RecordOf(run, 2).reason,
            "the host did not report in time how it ended after its stop; the command may still "
            "run there");
}

TEST_F(Stop, OfOneHostLeavesTheOthers) {
  AddHosts(2);
  const RunId run = Start(2);
  const auto orders = TakeOrders();
  AskStop(run, HostId(1));
  EXPECT_EQ(TakeKills(), std::vector<TaskKey>{orders[0]});
  End(orders[0], TaskState::kKilled);
  EXPECT_EQ(Find(run).state, RunState::kRunning);
  End(orders[1]);
  EXPECT_EQ(Find(run).state, RunState::kFailed);
}

TEST_F(Stop, OfAHostThatIsAwayIsTakenToItWhenItComesBack) {
  AddHosts(1);
  const RunId run = Start(1);
  const auto task = TakeOrders()[0];
  Cut(1);
  AskStop(run);
  Advance(std::chrono::minutes(2));
  EXPECT_EQ(StateOf(run, 1), TaskState::kLost);
  EXPECT_EQ(Find(run).state, RunState::kCancelled);
  Lead();  // the wish survives the leader
  SayHello(1, {{task, link::HeldState::kRunning, {}}});
  Settle();
  ASSERT_EQ(frames_.size(), 1U);
  ASSERT_EQ(frames_[0].frame.welcome->answers.size(), 1U);
  EXPECT_EQ(frames_[0].frame.welcome->answers[0].verb, link::Verb::kKill);
}

TEST_F(Stop, IsToldAgainWhileTheTaskRuns) {
  AddHosts(1);
  const RunId run = Start(1);
  const auto task = TakeOrders()[0];
  Cut(1);
  AskStop(run);
  Advance(std::chrono::minutes(2));
  const auto verb = [&](const link::HeldTask& held) {
    frames_.clear();
    SayHello(1, {held});
    Settle();
    return frames_.at(0).frame.welcome->answers.at(0).verb;
  };
  EXPECT_EQ(verb({task, link::HeldState::kRunning, {}}), link::Verb::kKill);
  Cut(1);  // perhaps before the answer came
  Lead();
  EXPECT_EQ(verb({task, link::HeldState::kRunning, {}}), link::Verb::kKill);
  Report(1, link::ReportKind::kEnded, task, TaskState::kKilled);
  Lead();
  EXPECT_TRUE(store_.Load(store_.ReadFence()->term)->wishes.empty());
}

TEST_F(Stop, DispatchesNothingAfterATakeOver) {
  AddHosts(2);
  StageSpec stage;
  stage.concurrency = 1;
  const RunId run = Start(2, stage);
  const auto task = TakeOrders()[0];
  AskStop(run);
  Lead();
  SayHello(1, {{task, link::HeldState::kRunning, {}}});
  SayHello(2);
  Settle();
  EXPECT_TRUE(TakeOrders().empty());
}

TEST_F(Stop, SkipsAnOrderThatCameTooLate) {
  AddHosts(1);
  const RunId run = Start(1);
  const auto task = TakeOrders()[0];
  AskStop(run);
  Report(1, link::ReportKind::kRefusedLate, task);
  EXPECT_EQ(Find(run).state, RunState::kCancelled);
  EXPECT_EQ(StateOf(run, 1), TaskState::kSkipped);
}

}  // namespace
}  // namespace muster::engine
