#include "flow_fixture.hpp"

namespace muster::engine {
namespace {

class Flow : public FlowFixture {};

TEST_F(Flow, StagesFollowOneAnotherOnTheHostsThatAreOk) {
  AddHosts(3);
  StageSpec first = Named("first");
  first.max_failures = {.number = 1};
  const RunId run = StartJob(3, {first, Named("second")});
  EXPECT_EQ(Sent(), (Hosts{1, 2, 3}));
  EXPECT_EQ(StageNow(), "first");
  EXPECT_EQ(StageOf(run, "second"), StageState::kWaiting);
  EndAll({2});
  EXPECT_EQ(Sent(), (Hosts{1, 3})) << "h2 dropped out";
  EXPECT_EQ(StageNow(), "second");
  EndAll();
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
  EXPECT_EQ(Find(run).counts[TaskState::kSucceeded], 2U);
  EXPECT_EQ(Find(run).counts[TaskState::kFailed], 1U);
}

TEST_F(Flow, NothingStaysInMemoryOfARunThatEnded) {
  AddHosts(1);
  for (int i = 0; i < 3; ++i) {
    StartJob(1, {Named("a"), Named("b")});
    Sent();
    EndAll();
    Sent();
    EndAll();
  }
  const State& state = pipeline_->engine()->state();
  EXPECT_TRUE(state.runs.open.empty());
  EXPECT_TRUE(state.runs.changed.empty());
  EXPECT_TRUE(state.runs.dirty.empty());
  EXPECT_TRUE(state.runs.untold.empty());
  RunMemory many;
  for (std::uint64_t i = 1; i <= 30'000; ++i) many.RememberEnd(RunId(i), CommitNumber(i));
  EXPECT_EQ(many.ended_at.size(), 10'000U);
  EXPECT_EQ(many.ended_forgotten_at, CommitNumber(20'000));
}

TEST_F(Flow, AFailedStageEndsTheRunAndFinallyStillRuns) {
  AddHosts(2);
  StageSpec last = Named("clean");
  last.section = Section::kFinally;
  last.hosts = HostChoice::kTouched;
  const RunId run = StartJob(2, {Named("first"), Named("second"), last});
  Sent();
  EndAll({1});
  EXPECT_EQ(Sent(), (Hosts{1, 2}));
  EXPECT_EQ(StageNow(), "clean");
  EndAll();
  EXPECT_EQ(Find(run).state, RunState::kFailed);
  EXPECT_EQ(StageOf(run, "second"), StageState::kWaiting);
  EXPECT_EQ(StageOf(run, "clean"), StageState::kSucceeded);
}

TEST_F(Flow, ABranchRunsOnWhatItsStageTouchedAndTheRunFails) {
  AddHosts(4);
  StageSpec roll = Rolling("roll", "1,1,2", OnLimit::kFail);
  roll.next["failed"] = 3;
  StageSpec back = Named("rollback");
  back.section = Section::kBranch;
  back.hosts = HostChoice::kTouched;
  const RunId run = StartJob(4, {Named("precheck"), roll, In(1, "upgrade"), back});
  EXPECT_EQ(Sent().size(), 4U);
  EndAll();
  EXPECT_EQ(Sent(), (Hosts{1}));
  EndAll();
  EXPECT_EQ(Sent(), (Hosts{2}));
  EndAll({2});
  EXPECT_EQ(Sent(), (Hosts{1, 2})) << "only what the stage touched";
  EXPECT_EQ(StageNow(), "rollback");
  EndAll();
  EXPECT_EQ(Find(run).state, RunState::kFailed);
}

TEST_F(Flow, ABranchThatRecoversSavesTheRun) {
  AddHosts(1);
  StageSpec first = Named("first");
  first.next["failed"] = 1;
  StageSpec repair = Named("repair");
  repair.section = Section::kBranch;
  repair.hosts = HostChoice::kAll;
  repair.recovers = true;
  const RunId run = StartJob(1, {first, repair});
  Sent();
  EndAll({1});
  Sent();
  EndAll();
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
}

TEST_F(Flow, InnerStagesRollBatchByBatch) {
  AddHosts(4);
  const RunId run =
      StartJob(4, {Rolling("roll", "1,2", OnLimit::kPause), In(0, "upgrade"), In(0, "verify")});
  std::vector<std::pair<std::string, Hosts>> seen;
  for (int i = 0; i < 6; ++i) {
    const Hosts hosts = Sent();
    seen.emplace_back(StageNow(), hosts);
    EndAll();
  }
  EXPECT_EQ(seen, (std::vector<std::pair<std::string, Hosts>>{{"upgrade", {1}},
                                                              {"verify", {1}},
                                                              {"upgrade", {2, 3}},
                                                              {"verify", {2, 3}},
                                                              {"upgrade", {4}},
                                                              {"verify", {4}}}));
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
  EXPECT_EQ(Find(run).stages[0].batch, 3U);
}

TEST_F(Flow, AfterEachBatchComeTheWaitTheCheckAndThePerson) {
  AddHosts(2);
  StageSpec roll = Rolling("roll", "1", OnLimit::kFail);
  roll.between_wait = std::chrono::minutes(5);
  roll.between_approve = ApproveAction{.message = "on?", .by = {}};
  const RunId run = StartJob(2, {roll, In(0, "upgrade"), In(0, "health", Section::kBetween)});
  Sent();
  EndAll();
  EXPECT_EQ(Sent(), Hosts{});
  Advance(std::chrono::minutes(4));
  EXPECT_EQ(Sent(), Hosts{});
  Advance(std::chrono::minutes(1));
  EXPECT_EQ(Sent(), (Hosts{1}));
  EXPECT_EQ(StageNow(), "health");
  EndAll();
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_EQ(StageOf(run, "roll"), StageState::kAwaitingApproval);
  EXPECT_TRUE(
      Do(AnswerApproval{.caller = {}, .run = run, .stage = {}, .approved = true, .comment = {}}));
  EXPECT_EQ(Sent(), (Hosts{2}));
  EXPECT_EQ(StageNow(), "upgrade");
  EndAll();
  EXPECT_EQ(Sent(), (Hosts{2})) << "the check follows the last batch too";
  EndAll({2});
  EXPECT_EQ(Find(run).state, RunState::kFailed) << "its failures are the batch's";
}

// Both come before anything is done about the stop.
TEST_F(Flow, NobodyAnswersForARunThatIsBeingStopped) {
  AddHosts(2);
  StageSpec roll = Rolling("roll", "1", OnLimit::kFail);
  roll.between_approve = ApproveAction{.message = "on?", .by = {}};
  const RunId run = StartJob(2, {roll, In(0, "upgrade")});
  Sent();
  EndAll();
  ASSERT_EQ(StageOf(run, "roll"), StageState::kAwaitingApproval);
  pipeline_->Take(StopRun{.caller = {}, .run = run, .host = {}, .reason = "enough", .known = {}},
                  now_);
  const auto answer =
      Do(AnswerApproval{.caller = {}, .run = run, .stage = {}, .approved = true, .comment = {}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, fmt::format("run {} is being stopped", FormatRunId(run)));
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_EQ(Find(run).state, RunState::kCancelled);
}

TEST_F(Flow, WhatANeedsGraphAllowsRunsSideBySide) {
  AddHosts(1);
  StageSpec a = Named("a");
  StageSpec b = Named("b");
  b.needs = std::vector<std::uint32_t>{};
  StageSpec c = Named("c");
  c.needs = std::vector<std::uint32_t>{0, 1};
  const RunId run = StartJob(1, {a, b, c});
  EXPECT_EQ(Sent(), (Hosts{1, 1}));
  const auto two = orders_;
  End(two[0].task);
  EXPECT_EQ(Sent(), Hosts{});
  End(two[1].task);
  EXPECT_EQ(Sent(), (Hosts{1}));
  EXPECT_EQ(StageNow(), "c");
  EndAll();
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
}

TEST_F(Flow, WhenAndSwitchByStatusChooseTheWay) {
  AddHosts(2);
  StageSpec look = Named("look");
  look.next["healthy"] = StageSpec::kEnd;
  StageSpec never = Named("never");
  never.when = "${{ params.force == 'yes' }}";
  RunSpec spec;
  spec.job = "repair";
  spec.params = {{.name = "force", .value = "no"}};
  spec.stages = {look, never, Named("act")};
  const RunId first = StartSpec(2, spec);
  Sent();
  EndWith({{"status", "healthy"}});
  EXPECT_EQ(Find(first).state, RunState::kSucceeded);
  EXPECT_EQ(StageOf(first, "act"), StageState::kWaiting);
  const RunId second = StartSpec(2, spec);
  Sent();
  EndWith({{"status", "ill"}});
  EXPECT_EQ(Sent(), (Hosts{1, 2}));
  EXPECT_EQ(StageNow(), "act");
  EXPECT_EQ(StageOf(second, "never"), StageState::kSkipped);
}

TEST_F(Flow, ALoopIsBounded) {
  AddHosts(1);
  StageSpec again = Named("again");
  again.next["succeeded"] = 0;
  again.max_visits = 3;
  const RunId run = StartJob(1, {again});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Sent().size(), 1U) << i;
    EndAll();
  }
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_EQ(Find(run).state, RunState::kFailed);
}

TEST_F(Flow, OutputsReachLaterStagesPerHostAndCollected) {
  AddHosts(2);
  muster::Command use;
  use.args = {"${{ stages.look.outputs.disk }} on ${{ host.name }}", "${{ stages.look.all.disk }}"};
  const RunId run =
      StartJob(2, {Named("look"), With("use", std::make_shared<const muster::Command>(use))});
  Sent();
  EndWith({{"disk", "{host}"}});
  ASSERT_EQ(Sent(), (Hosts{1, 2}));
  for (const auto& order : orders_) {
    const auto number = std::to_string(order.task.host.value);
    EXPECT_EQ(order.command->args,
              (std::vector<std::string>{number + " on h" + number, "h1=1\nh2=2\n"}));
  }
  EndAll();
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
}

TEST_F(Flow, AHostWithoutTheLabelIsRefusedAndSaysWhy) {
  AddHosts(1);
  muster::Command use;
  use.args = {"${{ host.rack }}"};
  const RunId run = StartJob(1, {With("use", std::make_shared<const muster::Command>(use))});
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_EQ(StateOf(run, 1), TaskState::kRefused);
  EXPECT_NE(RecordOf(run, 1).reason.find("rack"), std::string::npos);
}

TEST_F(Flow, ParametersAreDataInTheEnvironment) {
  AddHosts(1);
  RunSpec spec;
  spec.job = "job";
  spec.params = {{.name = "version", .value = "6.1; rm -rf /"},
                 {.name = "token", .value = "deploy", .secret = true}};
  spec.stages = {Named("go")};
  StartSpec(1, spec);
  ASSERT_EQ(Sent().size(), 1U);
  const auto& command = *orders_.front().command;
  EXPECT_EQ(command.env, (std::vector<std::pair<std::string, std::string>>{
                             {"MUSTER_PARAM_VERSION", "6.1; rm -rf /"}}));
  EXPECT_EQ(command.secrets, (std::vector<SecretUse>{{"MUSTER_PARAM_TOKEN", "deploy"}}));
}

TEST_F(Flow, AFailedAttemptIsFollowedByAnotherAfterItsBackoff) {
  AddHosts(1);
  StageSpec stage = Named("go");
  stage.retries = {.max = 2, .backoff = std::chrono::seconds(5)};
  const RunId run = StartJob(1, {stage});
  Sent();
  EndAll({1});
  EXPECT_EQ(Sent(), Hosts{});
  Advance(std::chrono::seconds(5));
  EXPECT_EQ(Sent().size(), 1U);
  EXPECT_EQ(orders_.front().task.attempt.value, 2U);
  EndAll({1});
  Advance(std::chrono::seconds(5));
  Sent();
  EndAll({1});
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_EQ(Find(run).state, RunState::kFailed);
  EXPECT_EQ(Find(run).counts[TaskState::kFailed], 1U);
}

TEST_F(Flow, AnApprovalWhoseMessageBecomesTooLongFails) {
  AddHosts(1);
  RunSpec spec;
  spec.params = {{"p", std::string(5000, 'x'), false}};
  spec.stages = {With("ask", ApproveAction{.message = "${{ params.p }}", .by = {}})};
  const RunId run = StartSpec(1, spec);
  EXPECT_EQ(StageOf(run, "ask"), StageState::kFailed);
  EXPECT_EQ(store_.ListVisits(run, {}, 10)->front().message, "");
}

TEST_F(Flow, AnApprovalThatRunsOutRejects) {
  AddHosts(1);
  const RunId run = StartJob(1, {With("ask", ApproveAction{.message = "go on ${{ targets.count }}?",
                                                           .by = {},
                                                           .timeout = std::chrono::hours(1)}),
                                 Named("go")});
  EXPECT_EQ(Sent(), Hosts{});
  EXPECT_EQ(StageOf(run, "ask"), StageState::kAwaitingApproval);
  EXPECT_EQ(store_.ListVisits(run, {}, 10)->front().message, "go on 1?");
  Advance(std::chrono::minutes(61));
  EXPECT_EQ(Find(run).state, RunState::kFailed);
  EXPECT_EQ(Sent(), Hosts{});
}

TEST_F(Flow, OnlyWhoIsWantedMayApprove) {
  AddHosts(1);
  const RunId run =
      StartJob(1, {With("ask", ApproveAction{.message = "?", .by = {"carl"}, .not_starter = true}),
                   Named("go")});
  const auto answer = [&](std::string who) {
    return Do(AnswerApproval{.caller = {.request = {}, .name = std::move(who), .address = {}},
                             .run = run,
                             .stage = {},
                             .approved = true,
                             .comment = {}});
  };
  EXPECT_EQ(answer("ann").error().code, ErrorCode::kDenied) << "she started it";
  EXPECT_EQ(answer("bob").error().code, ErrorCode::kDenied);
  EXPECT_TRUE(answer("carl"));
  EXPECT_EQ(answer("carl").error().code, ErrorCode::kConflict) << "nothing waits any more";
  EXPECT_EQ(Sent(), (Hosts{1}));
}

TEST_F(Flow, ABudgetCountsWorkAndNotWaiting) {
  AddHosts(1);
  RunSpec spec;
  spec.job = "job";
  spec.timeout = std::chrono::minutes(10);
  spec.stages = {Named("a"), With("sleep", WaitAction{.time = std::chrono::hours(5), .until = {}}),
                 Named("b")};
  const RunId run = StartSpec(1, spec);
  Sent();
  Advance(std::chrono::minutes(6));
  EndAll();
  Advance(std::chrono::hours(5));
  EXPECT_EQ(Sent(), (Hosts{1}));
  Advance(std::chrono::minutes(3));
  EXPECT_EQ(Find(run).state, RunState::kRunning);
  Advance(std::chrono::minutes(2));
  EXPECT_EQ(TakeKills().size(), 1U);
  EndAll();
  EXPECT_EQ(Find(run).state, RunState::kTimedOut);
}

TEST_F(Flow, AChildRunTellsItsParentWhoCameThrough) {
  AddHosts(3);
  RunSpec child;
  child.job = "reboot";
  child.stages = {Named("down")};
  child.stages[0].max_failures = {.number = 1};
  RunSpec spec;
  spec.job = "parent";
  spec.jobs["reboot"] = std::make_shared<const RunSpec>(child);
  spec.stages = {With("sub", JobAction{.job = "reboot", .params = {}}), Named("after")};
  const RunId run = StartSpec(3, spec);
  ASSERT_EQ(Sent(), (Hosts{1, 2, 3}));
  const RunId child_id = orders_.front().task.run;
  EXPECT_NE(child_id, run);
  EXPECT_EQ(Find(child_id).parent, run);
  EndAll({3});
  EXPECT_EQ(Find(child_id).state, RunState::kSucceeded);
  EXPECT_EQ(Sent(), (Hosts{1, 2}));
  EXPECT_EQ(StageNow(), "after");
  EndAll();
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
}

}  // namespace
}  // namespace muster::engine
