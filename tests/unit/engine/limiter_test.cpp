#include "engine/limiter/limiter.hpp"

#include "flow_fixture.hpp"

namespace muster::engine {
namespace {

class Limiter : public FlowFixture {
 protected:
  static StageSpec Limited(std::string name, std::string key, std::uint32_t max) {
    StageSpec stage = Named(std::move(name));
    stage.limits = {{.key = std::move(key), .max = max}};
    return stage;
  }
  std::vector<TaskKey> TakeAll() {
    Settle();
    return TakeOrders();
  }
};

TEST_F(Limiter, AKeyBoundsTasksOverAllRuns) {
  AddHosts(3);
  const RunId first = StartJob(3, {Limited("go", "disk/${{ run.job }}", 2)});
  EXPECT_EQ(Sent(), (Hosts{1, 2}));
  const auto two = orders_;
  const RunId second = StartJob(3, {Limited("go", "disk/${{ run.job }}", 2)});
  EXPECT_EQ(Sent(), Hosts{});
  End(two[0].task);
  EXPECT_EQ(Sent(), (Hosts{3})) << "who waited longest";
  EXPECT_EQ(orders_.front().task.run, first);
  EndAll();
  EXPECT_EQ(Sent(), (Hosts{1}));
  EXPECT_EQ(orders_.front().task.run, second);
}

TEST_F(Limiter, AKeyMayDifferFromHostToHost) {
  AddHosts(2);
  StartJob(2, {Limited("go", "host/${{ host.name }}", 1)});
  EXPECT_EQ(Sent(), (Hosts{1, 2}));
  StartJob(2, {Limited("go", "host/${{ host.name }}", 1)});
  EXPECT_EQ(Sent(), Hosts{});
}

TEST_F(Limiter, WhatIsHeldSurvivesACrash) {
  AddHosts(2);
  StartJob(2, {Limited("go", "k", 1)});
  EXPECT_EQ(Sent(), (Hosts{1}));
  Crash();
  EXPECT_EQ(frames_.size(), 0U);
  EndAll();
  EXPECT_EQ(Sent(), (Hosts{2}));
}

TEST_F(Limiter, AHostThatWentAwayHoldsNobodyUpBehindIt) {
  AddHosts(3);
  StartJob(3, {Limited("go", "k", 1)});
  EXPECT_EQ(Sent(), (Hosts{1}));
  Cut(2);
  EndAll();
  EXPECT_EQ(Sent(), (Hosts{3}));
}

TEST_F(Limiter, APausedRunHoldsNobodyUpBehindIt) {
  AddHosts(3);
  const RunId first = StartJob(2, {Limited("go", "k", 1)});
  EXPECT_EQ(Sent(), (Hosts{1}));
  StartJob(3, {Limited("go", "k", 1)});
  EXPECT_TRUE(Do(PauseRun{.caller = {}, .run = first, .release = false, .reason = {}}));
  EXPECT_EQ(Sent(), Hosts{});
  End(TaskKey{first, Visit(1), 0, HostId(1), Attempt(1)});
  EXPECT_EQ(Sent(), (Hosts{1})) << "of the second";
}

TEST_F(Limiter, WhoNeedsTwoKeysWaitsForTheOneThatIsMissing) {
  AddHosts(4);
  StageSpec both = Limited("go", "a", 1);
  both.limits.push_back({.key = "b", .max = 1});
  StartJob(1, {Limited("go", "a", 1)});
  StartJob(2, {Limited("go", "b", 1)});
  const auto held = TakeAll();
  ASSERT_EQ(held.size(), 2U);  // a on h1, b on h1 of the second run; h2 waits for b
  const RunId third = StartJob(1, {both});
  StartJob(4, {Limited("go", "a", 1)});
  EXPECT_EQ(TakeAll().size(), 0U);
  End(held[0]);  // a is free: the third is first in its line, but lacks b, and makes way
  auto next = TakeAll();
  ASSERT_EQ(next.size(), 1U);
  EXPECT_NE(next[0].run, third);
  // Whatever ends next, all of them get their turn.
  std::size_t ended = 1;
  std::vector<TaskKey> open{held[1], next[0]};
  while (!open.empty()) {
    End(open.front());
    open.erase(open.begin());
    ++ended;
    for (const auto& task : TakeAll()) open.push_back(task);
  }
  EXPECT_EQ(ended, 8U);
  EXPECT_EQ(Find(third).state, RunState::kSucceeded);
}

TEST_F(Limiter, TasksOfAPassThatIsOverAreNotInTheLine) {
  AddHosts(3);
  const RunId run = StartJob(3, {Limited("go", "k", 1)});
  EXPECT_EQ(Sent(), (Hosts{1}));
  EXPECT_TRUE(Do(PauseRun{.caller = {}, .run = run, .release = false, .reason = {}}));
  EndAll();
  RetryRun retry;
  retry.run = run;
  retry.from_start = true;
  EXPECT_TRUE(Do(retry));
  for (const std::uint64_t host : {1, 2, 3}) {
    EXPECT_EQ(Sent(), (Hosts{host}));
    EndAll();
  }
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
}

TEST_F(Limiter, ALostTaskKeepsItsKeyUntilItsHostSaysOtherwise) {
  AddHosts(2);
  StageSpec stage = Limited("go", "k", 1);
  stage.max_failures = {.number = 1};
  const RunId run = StartJob(2, {stage});
  EXPECT_EQ(Sent(), (Hosts{1}));
  Cut(1);
  EXPECT_TRUE(Do(StopRun{.caller = {}, .run = run, .host = HostId(1), .reason = {}, .known = {}}));
  Advance(std::chrono::minutes(3));
  EXPECT_EQ(StateOf(run, 1), TaskState::kLost);
  EXPECT_EQ(Sent(), Hosts{}) << "it may still be at work there, for an hour";
  SayHello(1, {}, "another boot");
  Settle();
  EXPECT_EQ(Sent(), (Hosts{2}));
}

TEST_F(Limiter, HostThatIsRemovedHoldsNothing) {
  AddHosts(2);
  StageSpec stage = Limited("go", "k", 1);
  stage.max_failures = {.number = 1};
  const RunId run = StartJob(2, {stage});
  EXPECT_EQ(Sent(), (Hosts{1}));
  Cut(1);
  EXPECT_TRUE(Do(StopRun{.caller = {}, .run = run, .host = HostId(1), .reason = {}, .known = {}}));
  Advance(std::chrono::minutes(3));
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_TRUE(Do(RemoveHost{.caller = {}, .name = "h1", .reason = {}}));
  EXPECT_EQ(Sent(), (Hosts{2}));
}

TEST_F(Limiter, ALostTasksKeyComesBackWhenItsTimeoutHasSurelyEndedIt) {
  AddHosts(2);
  muster::Command command;
  command.timeout = std::chrono::seconds(10);
  StageSpec stage = Limited("go", "k", 1);
  stage.action = std::make_shared<const muster::Command>(command);
  stage.max_failures = {.number = 1};
  const RunId run = StartJob(2, {stage});
  EXPECT_EQ(Sent(), (Hosts{1}));
  Cut(1);
  Advance(std::chrono::minutes(3));
  EXPECT_EQ(StateOf(run, 1), TaskState::kLost);
  EXPECT_EQ(Sent(), Hosts{});
  now_.wall = now_.wall + std::chrono::hours(24);  // a clock that jumps ends nothing
  Advance(std::chrono::seconds(20));
  EXPECT_EQ(Sent(), Hosts{});
  Advance(std::chrono::minutes(1));
  EXPECT_EQ(Sent(), (Hosts{2}));
}

TEST_F(Limiter, ALostTasksBoundIsWholeAgainForTheNextLeader) {
  AddHosts(2);
  muster::Command command;
  command.timeout = std::chrono::hours(30);
  StageSpec stage = Limited("go", "k", 1);
  stage.action = std::make_shared<const muster::Command>(command);
  const RunId run = StartJob(1, {stage});
  EXPECT_EQ(Sent(), (Hosts{1}));
  Cut(1);
  Advance(std::chrono::hours(31));
  EXPECT_EQ(StateOf(run, 1), TaskState::kLost);
  stage.max_failures = {.number = 2};
  StartJob(2, {stage});
  Lead();
  SayHello(2);
  Advance(std::chrono::hours(29));
  EXPECT_EQ(Sent(), Hosts{}) << "h1 may still be at work";
  Advance(std::chrono::hours(2));
  EXPECT_EQ(Sent(), Hosts{2});
}

TEST_F(Limiter, ARunTakesItsOwnKeysBeforeItsFirstStage) {
  AddHosts(1);
  RunSpec spec;
  spec.job = "job";
  spec.stages = {Named("go")};
  spec.limits = {{.key = "cluster/x", .max = 1}};
  const RunId first = StartSpec(1, spec);
  EXPECT_EQ(Sent(), (Hosts{1}));
  const auto running = orders_;
  const RunId second = StartSpec(1, spec);
  EXPECT_EQ(Find(second).state, RunState::kQueued);
  EXPECT_EQ(Sent(), Hosts{});
  orders_ = running;
  Crash();
  EXPECT_EQ(Sent(), Hosts{});
  End(running.front().task);
  EXPECT_EQ(Find(first).state, RunState::kSucceeded);
  EXPECT_EQ(Sent(), (Hosts{1}));
  EXPECT_EQ(Find(second).state, RunState::kRunning);
}

TEST_F(Limiter, AChildStandsUnderItsParentsKeys) {
  AddHosts(1);
  RunSpec child;
  child.job = "replace";
  child.stages = {Named("work")};
  child.limits = {{.key = "cluster/x", .max = 1}};
  RunSpec spec;
  spec.job = "repair";
  spec.limits = {{.key = "cluster/x", .max = 1}};
  spec.jobs["replace"] = std::make_shared<const RunSpec>(child);
  spec.stages = {With("sub", JobAction{.job = "replace", .params = {}})};
  const RunId run = StartSpec(1, spec);
  EXPECT_EQ(Sent(), (Hosts{1}));
  EndAll();
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
}

TEST_F(Limiter, AKeyThatIsTooLongFailsItsRun) {
  AddHosts(1);
  RunSpec spec;
  spec.job = "job";
  spec.stages = {Named("go")};
  spec.limits = {{.key = std::string(kMostKeyBytes + 1, 'k'), .max = 1}};
  const RunId run = StartSpec(1, spec);
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_EQ(Find(run).state, RunState::kFailed);
  EXPECT_THAT(Find(run).reason, testing::HasSubstr("a key is"));
  spec.limits[0].key.pop_back();
  StartSpec(1, spec);
  EXPECT_EQ(Sent(), Hosts{1});
}

TEST_F(Limiter, KeysOfRunsAboveCountForTheBoundOfAllKeys) {
  AddHosts(1);
  const auto keys = [](char letter, std::size_t count) {
    std::vector<KeyLimit> limits;
    for (std::size_t i = 0; i < count; ++i)
      limits.push_back(
          {.key = fmt::format("{}{}", std::string(kMostKeyBytes - 10, letter), i), .max = 1});
    return limits;
  };
  const std::size_t half = kMostKeysBytes / kMostKeyBytes / 2 + 1;
  RunSpec child;
  child.job = "replace";
  child.stages = {Named("work")};
  child.limits = keys('c', half);
  RunSpec spec;
  spec.job = "repair";
  spec.limits = keys('p', half);
  spec.jobs["replace"] = std::make_shared<const RunSpec>(child);
  spec.stages = {With("sub", JobAction{.job = "replace", .params = {}})};
  const RunId run = StartSpec(1, spec);
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_EQ(Find(run).state, RunState::kFailed);
}

class RunKeys : public Limiter {
 protected:
  RunId StartWithKey() {
    RunSpec spec;
    spec.job = "job";
    spec.stages = {Named("go")};
    spec.limits = {{.key = "k", .max = 1}};
    return StartSpec(1, spec);
  }
  void Pause(RunId run, bool release = false) {
    EXPECT_TRUE(Do(PauseRun{.caller = {}, .run = run, .release = release, .reason = {}}));
  }
};

TEST_F(RunKeys, ResumedBeforeItsTurnARunWaitsForItAgain) {
  AddHosts(1);
  StartWithKey();
  EXPECT_EQ(Sent(), (Hosts{1}));
  const auto running = orders_;
  const RunId second = StartWithKey();
  Pause(second);
  EXPECT_TRUE(Do(ResumeRun{.caller = {}, .run = second}));
  EXPECT_EQ(Find(second).state, RunState::kQueued);
  const RunId third = StartWithKey();
  orders_ = running;
  EndAll();
  EXPECT_EQ(Sent(), (Hosts{1}));
  EXPECT_EQ(Find(second).state, RunState::kRunning);
  EndAll();
  EXPECT_EQ(Sent(), (Hosts{1}));
  EXPECT_EQ(Find(third).state, RunState::kRunning);
}

TEST_F(RunKeys, ARefusedResumeHoldsNobodyUpBehindIt) {
  AddHosts(1);
  RunSpec spec;
  spec.job = "job";
  spec.stages = {Named("go"), Named("on")};
  spec.limits = {{.key = "k", .max = 1}};
  const RunId first = StartSpec(1, spec);
  EXPECT_EQ(Sent(), (Hosts{1}));
  Pause(first, true);
  EndAll();
  const RunId second = StartWithKey();
  EXPECT_EQ(Sent(), (Hosts{1}));
  const auto refused = Do(ResumeRun{.caller = {}, .run = first});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
  EXPECT_EQ(Find(first).state, RunState::kPaused);
  const RunId third = StartWithKey();
  EndAll();
  EXPECT_EQ(Find(second).state, RunState::kSucceeded);
  EXPECT_EQ(Sent(), (Hosts{1}));
  EXPECT_EQ(Find(third).state, RunState::kRunning);
}

TEST_F(RunKeys, ARunThatGivesItsKeysBackMeanwhileDoesSoWhenItsTasksHaveEnded) {
  AddHosts(1);
  const RunId first = StartWithKey();
  EXPECT_EQ(Sent(), (Hosts{1}));
  const auto running = orders_;
  Pause(first, true);
  const RunId second = StartWithKey();
  EXPECT_EQ(Find(second).state, RunState::kQueued);
  Crash();
  EXPECT_EQ(Find(second).state, RunState::kQueued);
  orders_ = running;
  EndAll();
  EXPECT_EQ(Find(second).state, RunState::kRunning);
}

// A run under a key whose task was lost and whose host is away; it may run for an hour.
class LostUnderAKey : public RunKeys {
 protected:
  RunId Lose() {
    AddHosts(2);
    const RunId run = StartWithKey();
    EXPECT_EQ(Sent(), (Hosts{1}));
    task_ = orders_.front().task;
    Cut(1);
    EXPECT_TRUE(Do(StopRun{.caller = {}, .run = run, .host = {}, .reason = {}, .known = {}}));
    Advance(std::chrono::minutes(3));
    EXPECT_EQ(StateOf(run, 1), TaskState::kLost);
    EXPECT_EQ(Find(run).state, RunState::kCancelled);
    return run;
  }
  TaskKey task_;
};

TEST_F(LostUnderAKey, TheRunsKeyIsFreeWhenTheTaskIsSurelyOver) {
  Lose();
  const RunId second = StartWithKey();
  EXPECT_EQ(Find(second).state, RunState::kQueued);
  Advance(std::chrono::minutes(50));
  Lead();
  now_.wall = now_.wall + std::chrono::hours(24);
  Advance(std::chrono::minutes(50));
  EXPECT_EQ(Find(second).state, RunState::kQueued) << "the next leader counts again";
  Advance(std::chrono::minutes(20));
  EXPECT_EQ(Find(second).state, RunState::kRunning);
}

TEST_F(LostUnderAKey, TheRunsKeyIsFreeWhenTheHostSaysThatItEnded) {
  Lose();
  const RunId second = StartWithKey();
  TaskEnd end;
  end.state = TaskState::kSucceeded;
  SayHello(1, {{.task = task_, .state = link::HeldState::kRunning, .end = {}}});
  Settle();
  EXPECT_EQ(Find(second).state, RunState::kQueued);
  SayHello(1, {{.task = task_, .state = link::HeldState::kEnded, .end = end}});
  Settle();
  EXPECT_EQ(Find(second).state, RunState::kRunning);
}

TEST_F(LostUnderAKey, TheRunItselfGoesOnBesideIt) {
  const RunId run = Lose();
  RetryRun retry;
  retry.run = run;
  retry.from_start = true;
  retry.known = *store_.ReadWholeRun(run);
  EXPECT_TRUE(Do(retry));
  EXPECT_EQ(Find(run).state, RunState::kRunning);
}

TEST_F(Limiter, AnAttemptThatWasLostIsToldFromTheOneThatFollowsIt) {
  AddHosts(3);
  muster::Command command;
  command.timeout = std::chrono::minutes(10);
  StageSpec stage = Limited("go", "k", 2);
  stage.action = std::make_shared<const muster::Command>(command);
  stage.repeat = Repeat::kSafe;
  stage.retries = {.max = 1, .backoff = std::chrono::seconds(1)};
  stage.wait_offline = std::chrono::hours(1);
  const RunId run = StartJob(1, {stage});
  EXPECT_EQ(Sent(), (Hosts{1}));
  const TaskKey first = orders_.front().task;
  Cut(1);
  Advance(std::chrono::minutes(13));
  SayHello(1, {{.task = first, .state = link::HeldState::kRunning, .end = {}}});
  Advance(std::chrono::seconds(2));
  EXPECT_EQ(Sent(), (Hosts{1})) << "the next attempt";
  StartJob(3, {Limited("go", "k", 2)});
  EXPECT_EQ(Sent(), (Hosts{}));
  const auto second = RecordOf(run, 1).key;
  Lead();
  SayHello(1, {{.task = first, .state = link::HeldState::kRunning, .end = {}},
               {.task = second, .state = link::HeldState::kRunning, .end = {}}});
  SayHello(2);
  SayHello(3);
  EXPECT_EQ(Sent(), (Hosts{}));
  Advance(std::chrono::minutes(11));
  EXPECT_EQ(Sent().size(), 1U) << "the first is surely over";
}

TEST_F(Limiter, AQueuedRunCanBeStopped) {
  AddHosts(1);
  RunSpec spec;
  spec.job = "job";
  spec.stages = {Named("go")};
  spec.limits = {{.key = "k", .max = 1}};
  StartSpec(1, spec);
  Sent();
  const RunId second = StartSpec(1, spec);
  EXPECT_TRUE(Do(StopRun{.caller = {}, .run = second, .host = {}, .reason = {}, .known = {}}));
  EXPECT_EQ(Find(second).state, RunState::kCancelled);
}

TEST(Queue, ThreeClassesAreTakenInTurn) {
  WorkQueue queue;
  for (std::uint64_t i = 1; i <= 6; ++i) {
    queue.Push(Priority::kHigh, RunId(100 + i));
    queue.Push(Priority::kNormal, RunId(200 + i));
    queue.Push(Priority::kLow, RunId(300 + i));
  }
  std::map<std::uint64_t, int> taken;
  for (int i = 0; i < 6; ++i) ++taken[queue.Pop()->value / 100];
  EXPECT_EQ(taken, (std::map<std::uint64_t, int>{{1, 3}, {2, 2}, {3, 1}}));
  while (!queue.Empty()) EXPECT_TRUE(queue.Pop());
  EXPECT_FALSE(queue.Pop());
}

}  // namespace
}  // namespace muster::engine
