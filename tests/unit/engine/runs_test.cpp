#include <algorithm>

#include "unit/engine/engine_fixture.hpp"

namespace muster::engine {
namespace {

class Runs : public EngineFixture {};

StageSpec Batched(std::string_view plan, HostShare max_failures = {}) {
  StageSpec stage;
  stage.batches = *ParseBatchPlan(plan);
  stage.max_failures = max_failures;
  return stage;
}

TEST_F(Runs, EndsWhenEveryHostHasEnded) {
  AddHosts(2);
  const RunId run = Start(2);
  const auto orders = TakeOrders();
  ASSERT_EQ(orders.size(), 2U);
  End(orders[0]);
  EXPECT_EQ(Find(run).state, RunState::kRunning);
  End(orders[1]);
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
  EXPECT_EQ(Find(run).stages[0].counts[TaskState::kSucceeded], 2U);
}

TEST_F(Runs, GivesEachHostItsShareOfTheRunsOutput) {
  AddHosts(100);
  muster::Command command;
  command.max_output = muster::Command::kShareOfRun;
  StageSpec stage;
  stage.action = std::make_shared<const muster::Command>(command);
  EXPECT_EQ(CommandOf(Find(Start(2, stage)).spec.stages[0])->max_output, 16ULL << 20);
  EXPECT_EQ(CommandOf(Find(Start(100, stage)).spec.stages[0])->max_output, (1ULL << 30) / 100);
  command.max_output = 200ULL << 20;
  stage.action = std::make_shared<const muster::Command>(command);
  EXPECT_EQ(CommandOf(Find(Start(100, stage)).spec.stages[0])->max_output, 200ULL << 20);
}

TEST_F(Runs, FailsWhenAHostFailedAndNoneIsTolerated) {
  AddHosts(2);
  const RunId run = Start(2);
  const auto orders = TakeOrders();
  End(orders[0], TaskState::kFailed);
  End(orders[1]);
  EXPECT_EQ(Find(run).state, RunState::kFailed);
}

TEST_F(Runs, TimesOutWhenEveryCountedHostDid) {
  AddHosts(1);
  const RunId run = Start(1);
  End(TakeOrders()[0], TaskState::kTimedOut);
  EXPECT_EQ(Find(run).state, RunState::kTimedOut);
}

TEST_F(Runs, NeverHasMoreHostsOutThanItsConcurrency) {
  AddHosts(5);
  StageSpec stage;
  stage.concurrency = 2;
  const RunId run = Start(5, stage);
  std::size_t sent = 0;
  std::size_t ended = 0;
  std::vector<TaskKey> out;
  while (true) {
    for (const auto& task : TakeOrders()) {
      out.push_back(task);
      ++sent;
    }
    ASSERT_LE(sent - ended, 2U);
    if (out.empty()) break;
    End(out.front());
    out.erase(out.begin());
    ++ended;
  }
  EXPECT_EQ(sent, 5U);
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
}

TEST_F(Runs, OpensTheNextBatchOnlyWhenTheOneBeforeHasEnded) {
  AddHosts(4);
  Start(4, Batched("1,2"));
  auto orders = TakeOrders();
  ASSERT_EQ(orders.size(), 1U);
  End(orders[0]);
  orders = TakeOrders();
  ASSERT_EQ(orders.size(), 2U);
  End(orders[0]);
  EXPECT_TRUE(TakeOrders().empty());
  End(orders[1]);
  EXPECT_EQ(TakeOrders().size(), 1U);
}

TEST_F(Runs, StartsNoFurtherBatchPastItsFailureLimit) {
  AddHosts(4);
  const RunId run = Start(4, Batched("1,2"));
  End(TakeOrders()[0], TaskState::kFailed);
  EXPECT_TRUE(TakeOrders().empty());
  EXPECT_EQ(Find(run).state, RunState::kFailed);
  EXPECT_EQ(StateOf(run, 2), TaskState::kSkipped);
  EXPECT_EQ(StateOf(run, 4), TaskState::kSkipped);
}

TEST_F(Runs, GoesOnWithinItsFailureLimit) {
  AddHosts(4);
  const RunId run = Start(4, Batched("2", {1, false}));
  auto orders = TakeOrders();
  End(orders[0], TaskState::kFailed);
  End(orders[1]);
  orders = TakeOrders();
  ASSERT_EQ(orders.size(), 2U);
  for (const auto& task : orders) End(task);
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
}

TEST_F(Runs, GivesHostsTimeToFindANewLeaderBeforeTheyCountAsOffline) {
  AddHosts(2);
  Cut(2);
  StageSpec stage;
  stage.wait_offline = std::chrono::seconds(15);
  const RunId run = Start(2, stage);
  Lead();
  Settle();
  Advance(std::chrono::seconds(16));
  EXPECT_EQ(StateOf(run, 2), TaskState::kWaiting);
  SayHello(1);
  SayHello(2);
  Settle();
  EXPECT_EQ(StateOf(run, 2), TaskState::kSent);

  Cut(2);
  const RunId later = Start(2, stage);
  Lead();
  Settle();
  Advance(std::chrono::seconds(61));
  EXPECT_EQ(StateOf(later, 2), TaskState::kUnreachable);
}

TEST_F(Runs, CallsAnOfflineHostUnreachableAfterItsWait) {
  AddHosts(2);
  Cut(2);
  const RunId run = Start(2);
  End(TakeOrders()[0]);
  EXPECT_EQ(Find(run).state, RunState::kRunning);
  Advance(std::chrono::seconds(16));
  EXPECT_EQ(StateOf(run, 2), TaskState::kUnreachable);
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
}

TEST_F(Runs, SendsToAHostThatComesBackWithinTheWait) {
  AddHosts(1);
  Cut(1);
  Start(1);
  EXPECT_TRUE(TakeOrders().empty());
  Advance(std::chrono::seconds(10));
  SayHello(1);
  Settle();
  EXPECT_EQ(TakeOrders().size(), 1U);
}

TEST_F(Runs, MakesTheNextAttemptWhenAnOrderCameTooLate) {
  AddHosts(1);
  const RunId run = Start(1);
  const auto first = TakeOrders()[0];
  Report(1, link::ReportKind::kRefusedLate, first);
  Advance(std::chrono::seconds(1));
  const auto orders = TakeOrders();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_EQ(orders[0].attempt, Attempt(2));
  End(orders[0]);
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
  EXPECT_EQ(Find(run).stages[0].counts.Total(), 1U);
}

TEST_F(Runs, MakesTheNextAttemptWhenTheNodeSaysNothingStarted) {
  AddHosts(1);
  const RunId run = Start(1);
  const auto first = TakeOrders()[0];
  Report(1, link::ReportKind::kStarted, first);
  End(first, TaskState::kSkipped);
  Advance(std::chrono::seconds(1));
  const auto orders = TakeOrders();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_EQ(orders[0].attempt, Attempt(2));
  End(orders[0]);
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
}

// What was looked up before the Hello says "sent" for both mentions; the first one ends it.
TEST_F(Runs, ATaskThatAHelloListsTwiceEndsOnce) {
  AddHosts(1);
  Start(1);
  const TaskKey first = TakeOrders().at(0);
  TaskEnd end;
  end.state = TaskState::kSkipped;
  const link::HeldTask held{.task = first, .state = link::HeldState::kEnded, .end = end};
  SayHello(1, {held, held});
  Settle();
  const auto on_record = [&] { return store_.FindTasks({first})->value.front()->state; };
  EXPECT_EQ(on_record(), TaskState::kUnreachable);
  SayHello(1);
  Settle();
  EXPECT_EQ(on_record(), TaskState::kUnreachable);
}

TEST_F(Runs, SendsAnUnlistedOrderAgainOnlyToTheSameBoot) {
  AddHosts(2);
  const RunId run = Start(2);
  const auto orders = TakeOrders();
  Cut(1);
  Cut(2);
  SayHello(1);
  SayHello(2, {}, "another boot");
  Settle();
  EXPECT_EQ(TakeOrders(), std::vector<TaskKey>{orders[0]});
  EXPECT_EQ(StateOf(run, 2), TaskState::kLost);
}

TEST_F(Runs, SendsAnUnlistedOrderAgainOnlyWithinTheWaitForTheHost) {
  AddHosts(2);
  StageSpec stage;
  stage.wait_offline = std::chrono::seconds(15);
  const RunId run = Start(2, stage);
  const auto orders = TakeOrders();
  Advance(std::chrono::seconds(30));
  Cut(1);
  Cut(2);
  Advance(std::chrono::seconds(14));
  SayHello(1);
  Settle();
  EXPECT_EQ(TakeOrders(), std::vector<TaskKey>{orders[0]});
  Advance(std::chrono::seconds(2));
  SayHello(2);
  Settle();
  EXPECT_TRUE(TakeOrders().empty());
  EXPECT_EQ(StateOf(run, 2), TaskState::kUnreachable);
  End(orders[0]);
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
}

TEST_F(Runs, SendsAnUnlistedOrderAgainUnderTheNextLeaderForAsLongAsHostsMayNeedToFindIt) {
  AddHosts(2);
  StageSpec stage;
  stage.wait_offline = std::chrono::seconds(15);
  const RunId run = Start(2, stage);
  const auto orders = TakeOrders();
  Lead();
  Advance(std::chrono::seconds(74));
  SayHello(1);
  Settle();
  EXPECT_EQ(TakeOrders(), std::vector<TaskKey>{orders[0]});
  Advance(std::chrono::seconds(2));
  SayHello(2);
  Settle();
  EXPECT_TRUE(TakeOrders().empty());
  EXPECT_EQ(StateOf(run, 2), TaskState::kUnreachable);
}

TEST_F(Runs, WelcomeSaysHowMuchOutputATaskMayHave) {
  AddHosts(1);
  muster::Command command;
  command.argv = {"true"};
  command.max_output = 4096;
  StageSpec stage;
  stage.action = std::make_shared<const muster::Command>(command);
  Start(1, stage);
  const auto task = TakeOrders()[0];
  Lead();
  SayHello(1, {{task, link::HeldState::kRunning, {}}});
  Settle();
  ASSERT_EQ(frames_.size(), 1U);
  ASSERT_EQ(frames_[0].frame.welcome->answers.size(), 1U);
  EXPECT_EQ(frames_[0].frame.welcome->answers[0].max_output, 4096U);
}

TEST_F(Runs, BelievesAHelloAboutWorkOfAnEarlierLeader) {
  AddHosts(1);
  const RunId run = Start(1);
  const auto task = TakeOrders()[0];
  Lead();
  TaskEnd end;
  end.state = TaskState::kSucceeded;
  end.log = LogTotals{};
  SayHello(1, {{task, link::HeldState::kEnded, end}});
  Settle();
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
  EXPECT_EQ(RecordOf(run, 1).log.state, LogState::kOpen);
  Report(1, link::ReportKind::kLogEnded, task);
  EXPECT_EQ(RecordOf(run, 1).log.state, LogState::kComplete);
}

TEST_F(Runs, FiresNoDeadlineAfterATakeOverBeforeTheGraceIsOver) {
  AddHosts(1);
  muster::Command command;
  command.timeout = std::chrono::seconds(5);
  StageSpec stage;
  stage.action = std::make_shared<const muster::Command>(command);
  const RunId run = Start(1, stage);
  now_.wall = now_.wall + std::chrono::hours(5);  // the server was down, or its clock jumped
  Lead();
  Advance(std::chrono::seconds(90));
  EXPECT_EQ(StateOf(run, 1), TaskState::kSent);
  Advance(std::chrono::minutes(5));
  EXPECT_EQ(StateOf(run, 1), TaskState::kLost);
}

TEST_F(Runs, KeepsALateReportBesideALostAttempt) {
  AddHosts(1);
  const RunId run = Start(1);
  const auto task = TakeOrders()[0];
  Cut(1);
  Advance(std::chrono::hours(2));
  ASSERT_EQ(StateOf(run, 1), TaskState::kLost);
  EXPECT_EQ(RecordOf(run, 1).reason,
            "the host was away past the task's deadline; the command may still run there");
  TaskEnd end;
  end.state = TaskState::kSucceeded;
  end.log = LogTotals{};
  SayHello(1, {{task, link::HeldState::kEnded, end}});
  Settle();
  const auto record = RecordOf(run, 1);
  EXPECT_EQ(record.state, TaskState::kLost);
  ASSERT_TRUE(record.late);
  EXPECT_EQ(record.late->state, TaskState::kSucceeded);
  EXPECT_EQ(record.reason, "the host was away past the task's deadline");
  EXPECT_EQ(Find(run).state, RunState::kFailed);
}

TEST_F(Runs, IgnoresReportsOfAnOlderSession) {
  AddHosts(1);
  const RunId run = Start(1);
  const auto task = TakeOrders()[0];
  session_of_[1] -= 1;
  Report(1, link::ReportKind::kEnded, task);
  EXPECT_EQ(StateOf(run, 1), TaskState::kSent);
}

TEST_F(Runs, LosesWhatAReplacedKeyHeld) {
  AddHosts(1);
  const RunId run = Start(1);
  Ask(JoinHost{.caller = {}, .invite = "i", .name = "h1", .key = "new key", .labels = {}});
  Settle();
  EXPECT_EQ(StateOf(run, 1), TaskState::kLost);
}

TEST_F(Runs, ACopyGetsNoWork) {
  AddHosts(1);
  next_link_ = session_of_[1] - 1;  // the same session number once more
  SayHello(1);
  Settle();
  EXPECT_EQ(pipeline_->engine()->state().hosts.entries.at(HostId(1)).host.state, HostState::kCopy);
  EXPECT_FALSE(pipeline_->engine()->state().hosts.entries.at(HostId(1)).Online());
}

}  // namespace
}  // namespace muster::engine
