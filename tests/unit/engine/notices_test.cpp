#include <algorithm>

#include "flow_fixture.hpp"

namespace muster::engine {
namespace {

class Notices : public FlowFixture {
 protected:
  Notices() { AddHosts(2); }

  RunId StartTold(std::vector<std::string> on, std::vector<StageSpec> stages = {Named("only")}) {
    RunSpec spec;
    spec.job = "deploy";
    spec.stages = std::move(stages);
    spec.notices = {{.on = std::move(on), .channel = "ops"}};
    return StartSpec(2, std::move(spec));
  }
  // The states that channels were told of since the last look.
  std::vector<std::string> Told() {
    told_ = std::exchange(server_orders_, {});
    std::vector<std::string> states;
    for (const auto& order : told_) {
      EXPECT_EQ(std::get<NotifyAction>(order.what).channel, "ops");
      EXPECT_EQ(order.job, "deploy");
      states.push_back(order.state);
    }
    return states;
  }
  void Answer(TaskState state, std::string reason = "") {
    ServerReport report{.task = told_.at(0).task, .end = {}};
    report.end.state = state;
    report.end.reason = std::move(reason);
    Tell(report);
    Settle();
  }
  std::size_t Kept() { return store_.Load(pipeline_->term())->notices.size(); }

  using States = std::vector<std::string>;
  std::vector<ServerOrder> told_;
};

TEST_F(Notices, EndIsToldOnceAndForgottenWhenTaken) {
  StartTold({"failed", "succeeded"});
  EXPECT_EQ(Told(), States{});
  Sent();
  EndAll();
  ASSERT_EQ(Told(), States{"succeeded"});
  EXPECT_NE(std::get<NotifyAction>(told_[0].what).message.find("succeeded"), std::string::npos);
  EXPECT_EQ(Kept(), 1U);
  Answer(TaskState::kSucceeded);
  EXPECT_EQ(Kept(), 0U);
  Advance(std::chrono::hours(48));
  EXPECT_EQ(Told(), States{});
}

TEST_F(Notices, OtherStatesAreNotTold) {
  StartTold({"failed", "cancelled", "paused"});
  Sent();
  EndAll();
  EXPECT_EQ(Told(), States{});
  EXPECT_EQ(Kept(), 0U);
}

TEST_F(Notices, PauseApprovalAndEndAreEachTold) {
  const RunId run =
      StartTold({"paused", "awaiting_approval", "cancelled"},
                {Named("first"), With("ask", ApproveAction{.message = "go?", .by = {}})});
  Sent();
  ASSERT_TRUE(Do(PauseRun{.caller = {}, .run = run, .reason = "lunch"}));
  ASSERT_EQ(Told(), States{"paused"});
  EXPECT_NE(std::get<NotifyAction>(told_[0].what).message.find("lunch"), std::string::npos);
  const TaskKey paused = told_[0].task;
  ASSERT_TRUE(Do(ResumeRun{.caller = {}, .run = run}));
  EndAll();
  ASSERT_EQ(Told(), States{"awaiting_approval"});
  EXPECT_NE(std::get<NotifyAction>(told_[0].what).message.find("go?"), std::string::npos);
  EXPECT_NE(told_[0].task.visit, paused.visit) << "two messages under one identity";
  ASSERT_TRUE(Do(StopRun{.caller = {}, .run = run, .host = {}, .reason = {}, .known = {}}));
  EXPECT_EQ(Told(), States{"cancelled"});
  EXPECT_EQ(Kept(), 3U);
}

TEST_F(Notices, LimitThatPausesIsTold) {
  StageSpec stage = Rolling("roll", "1", OnLimit::kPause);
  StartTold({"paused"}, {stage, In(0, "inner")});
  Sent();
  EndAll({1, 2});
  EXPECT_EQ(Told(), States{"paused"});
}

TEST_F(Notices, WhatIsNotTakenIsTriedAgainEverMoreSlowly) {
  StartTold({"succeeded"});
  Sent();
  EndAll();
  ASSERT_EQ(Told().size(), 1U);
  const TaskKey first = told_[0].task;
  Answer(TaskState::kFailed, "503");
  EXPECT_EQ(Told(), States{});
  Advance(std::chrono::seconds(5));
  ASSERT_EQ(Told(), States{"succeeded"});
  EXPECT_EQ(told_[0].task.visit, first.visit);
  EXPECT_EQ(told_[0].task.attempt.value, 2U);
  Answer(TaskState::kFailed, "503");
  Advance(std::chrono::seconds(5));
  EXPECT_EQ(Told(), States{});
  Advance(std::chrono::seconds(10));
  ASSERT_EQ(Told(), States{"succeeded"});
  Answer(TaskState::kSucceeded);
  EXPECT_EQ(Kept(), 0U);
}

TEST_F(Notices, LateAnswerOfAnEarlierAttemptCountsForNothing) {
  StartTold({"succeeded"});
  Sent();
  EndAll();
  ASSERT_EQ(Told().size(), 1U);
  const auto first = told_;
  Answer(TaskState::kFailed);
  Advance(std::chrono::seconds(5));
  ASSERT_EQ(Told().size(), 1U);
  told_ = first;
  Answer(TaskState::kSucceeded);
  EXPECT_EQ(Kept(), 1U);
}

TEST_F(Notices, AreToldAgainAfterACrashAndOnlyIfTheyWereKept) {
  StartTold({"succeeded"});
  Sent();
  EndAll();
  ASSERT_EQ(Told().size(), 1U);
  Lead();
  Settle();
  ASSERT_EQ(Told(), States{"succeeded"}) << "nobody knows whether it arrived";
  Answer(TaskState::kSucceeded);
  Lead();
  Settle();
  EXPECT_EQ(Told(), States{});
}

TEST_F(Notices, NothingIsSentBeforeTheCommit) {
  const RunId run = StartTold({"paused"});
  Ask(PauseRun{.caller = {}, .run = run, .reason = {}});
  EXPECT_EQ(Told(), States{});
  Settle();
  EXPECT_EQ(Told(), States{"paused"});
}

TEST_F(Notices, AfterADayTheTrailSaysThatNobodyWasTold) {
  StartTold({"succeeded"});
  Sent();
  EndAll();
  for (int i = 0; i < 1000 && Kept() > 0; ++i) {
    if (!Told().empty()) Answer(TaskState::kFailed, "no route to host");
    Advance(std::chrono::minutes(15));
  }
  ASSERT_EQ(Kept(), 0U);
  const AuditEntry last = store_.ReadAudit(1, 1000)->back();
  EXPECT_EQ(last.act, "notice.fail");
  EXPECT_EQ(last.reason, "no route to host");
  Advance(std::chrono::hours(1));
  EXPECT_EQ(Told(), States{});
}

TEST_F(Notices, StoppedRunStopsTheRequestUnderWay) {
  HttpAction http;
  http.url = "https://example.com";
  const RunId run = StartJob(2, {With("call", http)});
  ASSERT_EQ(server_orders_.size(), 1U);
  const TaskKey task = server_orders_[0].task;
  ASSERT_TRUE(Do(StopRun{.caller = {}, .run = run, .host = {}, .reason = {}, .known = {}}));
  EXPECT_EQ(server_stops_, std::vector{task});
}

TEST_F(Notices, ExpressionMakesUpNoSecretsName) {
  HttpAction http;
  http.url = "https://example.com";
  http.headers = {{"Authorization", "Bearer ${{ params.who }}"}};
  RunSpec spec;
  spec.job = "job";
  spec.stages = {With("call", http)};
  spec.params = {{.name = "who", .value = "secret:admin.token"}};
  const RunId run = StartSpec(2, std::move(spec));
  EXPECT_TRUE(server_orders_.empty());
  EXPECT_EQ(StageOf(run, "call"), StageState::kFailed);
}

TEST_F(Notices, AChannelIsToldOnceHoweverOftenItIsNamed) {
  RunSpec spec;
  spec.job = "deploy";
  spec.stages = {Named("only")};
  spec.notices.assign(5, {.on = {"paused", "succeeded"}, .channel = "ops"});
  const RunId run = StartSpec(2, std::move(spec));
  ASSERT_TRUE(Do(PauseRun{.caller = {}, .run = run, .reason = {}}));
  EXPECT_EQ(Told(), States{"paused"});
  EXPECT_EQ(Kept(), 1U);
}

TEST_F(Notices, NewerOneMakesWhatWaitsForItsNextAttemptOutOfDate) {
  const RunId run = StartTold({"paused"});
  ASSERT_TRUE(Do(PauseRun{.caller = {}, .run = run, .reason = "first"}));
  ASSERT_EQ(Told(), States{"paused"});
  Answer(TaskState::kFailed, "503");
  ASSERT_TRUE(Do(ResumeRun{.caller = {}, .run = run}));
  ASSERT_TRUE(Do(PauseRun{.caller = {}, .run = run, .reason = "second"}));
  ASSERT_EQ(Told(), States{"paused"});
  EXPECT_NE(std::get<NotifyAction>(told_[0].what).message.find("second"), std::string::npos);
  EXPECT_EQ(Kept(), 1U);
  Answer(TaskState::kSucceeded);
  EXPECT_EQ(Kept(), 0U);
  Advance(std::chrono::hours(1));
  EXPECT_EQ(Told(), States{}) << "the first is not tried again";
}

TEST_F(Notices, NewerOneWaitsBehindTheOneUnderWay) {
  const RunId run = StartTold({"paused"});
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(Do(PauseRun{.caller = {}, .run = run, .reason = fmt::format("number {}", i)}));
    ASSERT_TRUE(Do(ResumeRun{.caller = {}, .run = run}));
  }
  ASSERT_EQ(Told(), States{"paused"});
  EXPECT_EQ(Kept(), 2U);
  Answer(TaskState::kFailed, "503");
  ASSERT_EQ(Told(), States{"paused"});
  EXPECT_NE(std::get<NotifyAction>(told_[0].what).message.find("number 49"), std::string::npos);
  EXPECT_EQ(Kept(), 1U);
  Answer(TaskState::kFailed, "503");
  Advance(std::chrono::seconds(5));
  ASSERT_EQ(Told(), States{"paused"}) << "the newest is tried again";
  Answer(TaskState::kSucceeded);
  EXPECT_EQ(Kept(), 0U);
}

TEST_F(Notices, BothAreToldAfterACrash) {
  const RunId run = StartTold({"paused"});
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(Do(PauseRun{.caller = {}, .run = run, .reason = {}}));
    ASSERT_TRUE(Do(ResumeRun{.caller = {}, .run = run}));
  }
  ASSERT_EQ(Told(), States{"paused"});
  Lead();
  Settle();
  ASSERT_EQ(Told(), (States{"paused", "paused"}));
  std::ranges::sort(told_, {}, [](const ServerOrder& order) { return order.task.visit; });
  Answer(TaskState::kFailed, "503");
  EXPECT_EQ(Told(), States{}) << "the newer one is under way already";
  EXPECT_EQ(Kept(), 1U);
}

}  // namespace
}  // namespace muster::engine
