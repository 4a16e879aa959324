#include "unit/engine/engine_fixture.hpp"

namespace muster::engine {
namespace {

// A host whose ended task still has output to send, when it says Hello once more.
class EngineOutputOver : public EngineFixture {
 protected:
  link::HeldTask Ended(const TaskKey& task) {
    link::HeldTask held{.task = task, .state = link::HeldState::kEnded, .end = TaskEnd{}};
    held.end->state = TaskState::kSucceeded;
    return held;
  }
  // Its Hello was looked up before the output was proven, and is decided after.
  void SayHelloLookedUpBefore(const TaskKey& task) {
    const NodeHello early = LookUp(1, {Ended(task)});
    Report(1, link::ReportKind::kLogEnded, task);
    ASSERT_EQ(store_.FindTasks({task})->value.at(0)->log.state, LogState::kComplete);
    frames_.clear();
    Tell(early);
    Settle();
    ASSERT_FALSE(frames_.empty());
  }
  // Otherwise the engine would wait for output that, by the records, nobody wants any more.
  void ExpectAskedAgain() {
    EXPECT_TRUE(frames_.back().frame.say_hello);
    EXPECT_FALSE(frames_.back().frame.welcome);
  }
};

TEST_F(EngineOutputOver, LookUpOfAnOpenLogFromBeforeItsEndIsDoneAgain) {
  AddHosts(1);
  Start(1);
  const TaskKey task = TakeOrders().at(0);
  Report(1, link::ReportKind::kEnded, task, TaskState::kSucceeded, false);
  SayHelloLookedUpBefore(task);
  ExpectAskedAgain();
  SayHello(1, {Ended(task)});
  Settle();
  EXPECT_EQ(frames_.back().frame.welcome->answers.at(0).verb, link::Verb::kForget);
}

TEST_F(EngineOutputOver, LookUpOfALostTasksOutputFromBeforeItsEndIsDoneAgain) {
  AddHosts(1);
  const RunId run = Start(1);
  const TaskKey task = TakeOrders().at(0);
  SayHello(1, {}, "another boot");
  Settle();
  ASSERT_EQ(StateOf(run, 1), TaskState::kLost);
  SayHello(1, {Ended(task)});
  Settle();
  ASSERT_EQ(RecordOf(run, 1).log.state, LogState::kGap);
  SayHelloLookedUpBefore(task);
  ExpectAskedAgain();
}

class EngineGate : public EngineFixture {};

TEST_F(EngineGate, ClosedGateRefusesNewRunsAndLeavesOthersAlone) {
  AddHosts(1);
  const RunId before = Start(1, {}, "key");
  const auto orders = TakeOrders();
  Tell(SetGate{"disk_low", "no room"});
  StartRun start;
  start.spec.stages = {StageSpec{}};
  start.targets = std::make_shared<Targets>(Targets{{HostId(1), "h1"}});
  const auto refused = Ask(start);
  Settle();
  ASSERT_TRUE(replies_.at(refused));
  EXPECT_EQ(std::get<GateClosed>(*replies_.at(refused)).gate, "disk_low");
  EXPECT_EQ(Start(1, {}, "key"), before) << "a known key still answers";
  End(orders.at(0));
  EXPECT_EQ(Find(before).state, RunState::kSucceeded);
  Tell(SetGate{"disk_low", ""});
  EXPECT_NE(Start(1), before);
}

// Plans of open runs are memory, also after a restart.
class EnginePlans : public EngineFixture {
 protected:
  Result<StartRun::Answer> StartLarge() {
    muster::Command command;
    command.script = std::string(100'000, '#');
    StartRun start;
    start.spec.stages = {StageSpec{}};
    start.spec.stages[0].action = std::make_shared<const muster::Command>(std::move(command));
    start.targets = std::make_shared<Targets>(Targets{{HostId(1), "h1"}});
    const auto id = Ask(std::move(start));
    Settle();
    return AnswerTo<StartRun>(id);
  }
  static bool IsClosed(const Result<StartRun::Answer>& answer) {
    const auto* closed = answer ? std::get_if<GateClosed>(&*answer) : nullptr;
    return closed != nullptr && closed->gate == "plans";
  }
};

TEST_F(EnginePlans, HoldNewRunsBackWhileTheyTakeTooMuch) {
  options_.most_plan_bytes = 150'000;
  Lead();
  AddHosts(1);
  ASSERT_FALSE(IsClosed(StartLarge()));
  ASSERT_FALSE(IsClosed(StartLarge()));
  EXPECT_TRUE(IsClosed(StartLarge()));
  Lead();
  SayHello(1);
  Settle();
  EXPECT_TRUE(IsClosed(StartLarge())) << "they are counted when they are loaded";
  const auto orders = TakeOrders();
  ASSERT_FALSE(orders.empty());
  End(orders.at(0));
  EXPECT_FALSE(IsClosed(StartLarge())) << "one has ended";
}

TEST_F(EnginePlans, ThatCouldNotBeReadBackAreRefused) {
  AddHosts(1);
  muster::Command command;
  command.script = std::string(1 << 20, '#');
  StartRun start;
  start.spec.stages.resize(65);
  const auto shared = std::make_shared<const muster::Command>(std::move(command));
  for (auto& stage : start.spec.stages) stage.action = shared;
  start.targets = std::make_shared<Targets>(Targets{{HostId(1), "h1"}});
  const auto id = Ask(std::move(start));
  Settle();
  ASSERT_FALSE(replies_.at(id));
  EXPECT_EQ(replies_.at(id).error().code, ErrorCode::kInvalid);
}

class EngineRetention : public EngineFixture {
 protected:
  std::uint32_t Drop(Expired old) {
    const auto id = Ask(DropOld{.caller = {}, .old = std::move(old)});
    Settle();
    return AnswerTo<DropOld>(id)->things;
  }
};

TEST_F(EngineRetention, OpenRunsAreKept) {
  AddHosts(1);
  const RunId run = Start(1);
  EXPECT_EQ(Drop({.runs = {{run, 1}}, .invites = {}}), 0U);
  EXPECT_EQ(Find(run).state, RunState::kRunning);
  End(TakeOrders().at(0));
  EXPECT_EQ(Drop({.runs = {{run, 1}}, .invites = {}}), 1U);
  EXPECT_FALSE(store_.FindRun(run)->value);
}

TEST_F(EngineRetention, LateWordOfADroppedRunWritesNothing) {
  AddHosts(1);
  const RunId run = Start(1);
  const TaskKey task = TakeOrders().at(0);
  Report(1, link::ReportKind::kStarted, task);
  SayHello(1);  // without it: lost
  Settle();
  ASSERT_EQ(StateOf(run, 1), TaskState::kLost);
  EXPECT_EQ(Drop({.runs = {{run, 1}}, .invites = {}}), 1U);
  End(task);
  EXPECT_FALSE(store_.FindTasks({task})->value.front());
}

TEST_F(EngineRetention, InvitesGoADayAfterTheirEnd) {
  Invite invite{.id = "soon", .expires = now_.wall + std::chrono::hours(1), .created_by = {}};
  Ask(CreateInvite{.caller = {}, .invite = invite});
  Advance(std::chrono::hours(2));
  EXPECT_EQ(Drop({}), 0U);
  Advance(std::chrono::hours(24));
  EXPECT_EQ(Drop({}), 1U);
  EXPECT_TRUE(store_.Load(pipeline_->term())->invites.empty());
}

// A store that was put back to an earlier moment.
class EngineRestored : public EngineFixture {
 protected:
  void TakeBackup() { backup_ = CopyOf(*disk_, std::nullopt, {}); }
  void Restore() {
    disk_ = CopyOf(*backup_, Snapshot::Restored{.taken = now_.wall, .at = now_.wall},
                   LeapOf(0, now_.wall, now_.wall));
    store_ = MemoryStore(disk_);
    Lead();
  }
  link::HeldTask Running(const TaskKey& task) {
    return {.task = task, .state = link::HeldState::kRunning, .end = {}};
  }
  link::Verb AnswerTo(const TaskKey& task) {
    for (const auto& outgoing : frames_)
      if (outgoing.frame.welcome)
        for (const auto& answer : outgoing.frame.welcome->answers)
          if (answer.task == task) return answer.verb;
    ADD_FAILURE() << "no answer";
    return {};
  }

  std::size_t RestoresTold() {
    AuditFilter filter;
    filter.act = "store.restore";
    return store_.ListAudit(filter, 0, 10)->entries.size();
  }

  std::shared_ptr<MemoryDisk> backup_;
};

TEST_F(EngineRestored, TermAndIdsLieAboveTheBackup) {
  AddHosts(1);
  TakeBackup();
  const RunId lost = Start(1);
  const Term term = pipeline_->term();
  Restore();
  SayHello(1);
  Settle();
  EXPECT_GE(pipeline_->term().value, term.value + (1ULL << 32));
  EXPECT_EQ(SpaceOf(Start(1)), SpaceOf(lost) + 1);
}

TEST_F(EngineRestored, TrailTellsOfEachRestoreOnce) {
  AddHosts(1);
  Start(1);
  TakeBackup();
  Restore();
  EXPECT_EQ(RestoresTold(), 0U);
  Lead();  // the one before fell before its first commit
  Settle();
  EXPECT_EQ(RestoresTold(), 1U);
  Lead();
  Settle();
  EXPECT_EQ(RestoresTold(), 1U);
  TakeBackup();
  Restore();
  Settle();
  EXPECT_EQ(RestoresTold(), 2U);
}

TEST_F(EngineRestored, SentTaskThatItsHostForgotIsLostAndNotSentAgain) {
  AddHosts(1);
  const RunId run = Start(1);
  const TaskKey task = TakeOrders().at(0);
  TakeBackup();
  End(task);
  Restore();
  SayHello(1);
  Settle();
  EXPECT_TRUE(TakeOrders().empty());
  EXPECT_EQ(StateOf(run, 1), TaskState::kLost);
  EXPECT_EQ(Find(run).state, RunState::kFailed);
}

TEST_F(EngineRestored, UnsentTaskIsLostAndNotSent) {
  AddHosts(2);
  StageSpec one_by_one;
  one_by_one.concurrency = 1;
  const RunId run = Start(2, one_by_one);
  const TaskKey first = TakeOrders().at(0);
  TakeBackup();
  End(first);
  End(TakeOrders().at(0));
  Restore();
  SayHello(1, {Running(first)});
  SayHello(2);
  Settle();
  EXPECT_TRUE(TakeOrders().empty());
  EXPECT_EQ(StateOf(run, 2), TaskState::kLost);
  End(first);
  EXPECT_EQ(StateOf(run, 1), TaskState::kSucceeded);
  EXPECT_EQ(Find(run).state, RunState::kFailed);
  EXPECT_NE(Find(run).reason, "");
}

TEST_F(EngineRestored, TaskSentAfterTheBackupIsAdoptedFromItsHost) {
  AddHosts(2);
  StageSpec one_by_one;
  one_by_one.concurrency = 1;
  const RunId run = Start(2, one_by_one);
  const TaskKey first = TakeOrders().at(0);
  TakeBackup();
  End(first);
  const TaskKey second = TakeOrders().at(0);
  Restore();
  SayHello(2, {Running(second)});
  Settle();
  EXPECT_EQ(AnswerTo(second), link::Verb::kGoOn);
  End(second);
  EXPECT_EQ(StateOf(run, 2), TaskState::kSucceeded);
}

TEST_F(EngineRestored, HostThatStaysAwayLosesItsTasksAfterTheGrace) {
  AddHosts(2);
  StageSpec one_by_one;
  one_by_one.concurrency = 1;
  const RunId run = Start(2, one_by_one);
  TakeBackup();
  Restore();
  Advance(Options{}.takeover_grace + std::chrono::seconds(1));
  EXPECT_EQ(StateOf(run, 2), TaskState::kLost);
}

TEST_F(EngineRestored, TaskOfALostRunGoesOnAndIsForgotten) {
  AddHosts(1);
  TakeBackup();
  Start(1);
  const TaskKey task = TakeOrders().at(0);
  Restore();
  SayHello(1, {Running(task)});
  Settle();
  EXPECT_EQ(AnswerTo(task), link::Verb::kGoOn);
  EXPECT_EQ(store_.ReadAudit(store_.ReadAuditHead()->number, 1)->front().act, "task.unknown");
  frames_.clear();
  End(task);
  ASSERT_FALSE(frames_.empty());
  EXPECT_EQ(frames_.back().frame.forgets, std::vector{task});
}

// A run whose second stage began on h1 after the backup, in which the first one is open.
class EngineRestoredStages : public EngineRestored {
 protected:
  EngineRestoredStages() {
    AddHosts(2);
    auto targets = std::make_shared<Targets>(Targets{{HostId(1), "h1"}, {HostId(2), "h2"}});
    StartRun start;
    start.known = *store_.FindKey("", "");
    start.spec.stages.resize(2);
    start.spec.stages[0].name = "first";
    start.spec.stages[1].name = "second";
    start.targets = std::move(targets);
    const auto id = Ask(std::move(start));
    Settle();
    run_ = std::get<RunStarted>(*replies_.at(id)).run;
    const auto first = TakeOrders();
    other_ = first.at(1);
    TakeBackup();
    for (const TaskKey& task : first) End(task);
    stranger_ = TakeOrders().at(0);
    Restore();
  }
  void Stop() {
    Ask(StopRun{.caller = {},
                .run = run_,
                .host = {},
                .grace = Duration(7),
                .reason = {},
                .known = *store_.FindRun(run_)});
    Settle();
  }
  RunId run_;
  TaskKey other_;     // open in the backup, at h2
  TaskKey stranger_;  // not in the backup, at h1
};

TEST_F(EngineRestoredStages, StrangerIsKilledWhenItsRunIsStopped) {
  SayHello(1, {Running(stranger_)});
  Settle();
  EXPECT_EQ(AnswerTo(stranger_), link::Verb::kGoOn);
  SayHello(2, {Running(other_)});
  Settle();
  TakeKills();
  Stop();
  EXPECT_THAT(TakeKills(), ::testing::UnorderedElementsAre(stranger_, other_));
}

TEST_F(EngineRestoredStages, StrangerOfAStoppingRunIsKilledAtItsHello) {
  SayHello(2, {Running(other_)});
  Stop();
  ASSERT_EQ(Find(run_).state, RunState::kRunning);
  SayHello(1, {Running(stranger_)});
  Settle();
  EXPECT_EQ(AnswerTo(stranger_), link::Verb::kKill);
}

TEST_F(EngineRestoredStages, StrangerIsKilledAtItsHelloAfterItsStoppedRunHasEnded) {
  SayHello(2, {Running(other_)});
  Stop();
  End(other_, TaskState::kKilled);
  Advance(Options{}.takeover_grace + std::chrono::seconds(1));
  ASSERT_EQ(Find(run_).state, RunState::kCancelled);
  Lead();
  SayHello(1, {Running(stranger_)});
  Settle();
  EXPECT_EQ(AnswerTo(stranger_), link::Verb::kKill);
}

TEST_F(EngineRestoredStages, LookUpFromBeforeTheRunEndedIsDoneAgain) {
  SayHello(2, {Running(other_)});
  Settle();
  const NodeHello early = LookUp(1, {Running(stranger_)});
  Stop();
  End(other_, TaskState::kKilled);
  Advance(Options{}.takeover_grace + std::chrono::seconds(1));
  ASSERT_EQ(Find(run_).state, RunState::kCancelled);
  frames_.clear();
  Tell(early);
  Settle();
  ASSERT_FALSE(frames_.empty());
  EXPECT_TRUE(frames_.back().frame.say_hello);
  EXPECT_FALSE(frames_.back().frame.welcome);
}

TEST_F(EngineRestoredStages, StrangerGoesOnWhenItsRunEndsWithoutAStop) {
  SayHello(2, {Running(other_)});
  Settle();
  End(other_);
  SayHello(1);
  Settle();
  ASSERT_TRUE(IsFinal(Find(run_).state));
  SayHello(1, {Running(stranger_)});
  Settle();
  EXPECT_EQ(AnswerTo(stranger_), link::Verb::kGoOn);
}

TEST_F(EngineRestored, StopThatIsInTheBackupIsNoneOfWhatCameAfterIt) {
  AddHosts(1);
  const RunId run = Start(1);
  TakeOrders();
  Ask(StopRun{.caller = {},
              .run = run,
              .host = {},
              .grace = {},
              .reason = {},
              .known = *store_.FindRun(run)});
  Settle();
  End(TakeKills().at(0), TaskState::kKilled);
  ASSERT_EQ(Find(run).state, RunState::kCancelled);
  TakeBackup();
  Restore();
  // As a retry after the backup sent it.
  const TaskKey stranger{.run = run, .visit = Visit(2), .host = HostId(1), .attempt = Attempt(1)};
  SayHello(1, {Running(stranger)});
  Settle();
  EXPECT_EQ(AnswerTo(stranger), link::Verb::kGoOn);
}

TEST_F(EngineRestored, UnknownTaskWithoutARestoreIsKilled) {
  AddHosts(1);
  const TaskKey made_up{
      .run = RunId(77), .visit = Visit(1), .host = HostId(1), .attempt = Attempt(1)};
  SayHello(1, {Running(made_up)});
  Settle();
  EXPECT_EQ(AnswerTo(made_up), link::Verb::kKill);
}

}  // namespace
}  // namespace muster::engine
