#include "server/egress/egress_work.hpp"

#include <gtest/gtest.h>

#include "base/mutex.hpp"

namespace muster::server {
namespace {

class Channels final : public ChannelSource {
 public:
  Result<Channel> Find(std::string_view name) override {
    if (name != "ops") return NoChannels().Find(name);
    return Channel{.name = "ops",
                   .way = WebhookChannel{.url = "https://example.com/hook",
                                         .headers = {{"Authorization", "Bearer secret:token"}}}};
  }
};

// Keeps what it was given; everything succeeds at once, unless it is held.
class Actions final : public ServerActions {
 public:
  void Start(const TaskKey&, ServerAction action, Done done) override {
    started.push_back(std::move(action));
    done({.state = TaskState::kSucceeded, .status = 200, .outputs = {{"ticket", "7"}}});
  }
  void Cancel(const TaskKey& task) override { cancelled.push_back(task); }
  void Stop() override {}

  std::vector<ServerAction> started;
  std::vector<TaskKey> cancelled;
};

class OutsideWorkTest : public ::testing::Test {
 protected:
  engine::ServerReport Do(engine::ServerOrder order) {
    order.task = kTask;
    {
      WorkerPool workers(1);
      OutsideWork work(
          {.actions = actions_,
           .channels = channels_,
           .find_secret = [](std::string_view name) -> Result<std::string> {
             if (name == "token") return std::string("t0ps3cr3t");
             return Fail(ErrorCode::kNotFound, "there is no secret '{}'", name);
           },
           .public_url = "https://muster.example",
           .submit =
               [this](engine::AnyCommand command) {
                 reports_.push_back(std::get<engine::ServerReport>(std::move(command)));
               }},
          workers);
      work.Take({std::move(order)});
      workers.Stop();  // finishes what is queued
    }
    EXPECT_EQ(reports_.size(), 1U);
    return reports_.empty() ? engine::ServerReport{} : reports_.front();
  }

  const TaskKey kTask{RunId(12), Visit(3), 0, HostId(), Attempt(1)};
  Actions actions_;
  Channels channels_;
  std::vector<engine::ServerReport> reports_;
};

TEST_F(OutsideWorkTest, MessageGoesThroughItsChannelWithSecretsFilledIn) {
  const auto report = Do({.task = {},
                          .what = NotifyAction{.channel = "ops", .message = "done"},
                          .job = "deploy",
                          .state = "failed"});
  EXPECT_EQ(report.task, kTask);
  EXPECT_EQ(report.end.state, TaskState::kSucceeded);
  ASSERT_EQ(actions_.started.size(), 1U);
  const auto& message = std::get<ChannelMessage>(actions_.started[0].what);
  EXPECT_EQ(std::get<WebhookChannel>(message.channel.way).headers[0].second, "Bearer t0ps3cr3t");
  EXPECT_EQ(actions_.started[0].masks, std::vector<std::string>{"t0ps3cr3t"});
  EXPECT_EQ(message.job, "deploy");
  EXPECT_EQ(message.state, "failed");
  EXPECT_EQ(message.url, "https://muster.example/runs/r12");
}

TEST_F(OutsideWorkTest, RequestsHeadersAreFilledInAndItsOutputsReported) {
  HttpAction http;
  http.url = "https://example.com";
  http.headers = {{"Authorization", "secret:token"}, {"Accept", "text/plain"}};
  const auto report = Do({.task = {}, .what = http});
  ASSERT_EQ(actions_.started.size(), 1U);
  const auto& sent = std::get<HttpAction>(actions_.started[0].what);
  EXPECT_EQ(sent.headers[0].second, "t0ps3cr3t");
  EXPECT_EQ(sent.headers[1].second, "text/plain");
  EXPECT_EQ(report.end.outputs,
            (std::vector<std::pair<std::string, std::string>>{{"ticket", "7"}}));
}

TEST_F(OutsideWorkTest, ConditionsHeadersAreFilledIn) {
  ConditionAction condition;
  condition.request.url = "https://example.com";
  condition.request.headers = {{"Authorization", "secret:token"}};
  condition.value = "/used";
  Do({.task = {}, .what = condition});
  ASSERT_EQ(actions_.started.size(), 1U);
  const auto& sent = std::get<ConditionAction>(actions_.started[0].what);
  EXPECT_EQ(sent.request.headers[0].second, "t0ps3cr3t");
  EXPECT_EQ(sent.value, "/used");
  EXPECT_EQ(actions_.started[0].masks, std::vector<std::string>{"t0ps3cr3t"});
}

TEST_F(OutsideWorkTest, WhatCannotBeBegunIsRefusedWithAReason) {
  HttpAction http;
  http.headers = {{"Authorization", "Bearer secret:gone"}};
  const auto report = Do({.task = {}, .what = http});
  EXPECT_EQ(report.end.state, TaskState::kRefused);
  EXPECT_NE(report.end.reason.find("gone"), std::string::npos);
  EXPECT_TRUE(actions_.started.empty());
}

TEST_F(OutsideWorkTest, UnknownChannelIsRefused) {
  const auto report =
      Do({.task = {}, .what = NotifyAction{.channel = "nobody", .message = "done"}});
  EXPECT_EQ(report.end.state, TaskState::kRefused);
  EXPECT_NE(report.end.reason.find("nobody"), std::string::npos);
}

}  // namespace
}  // namespace muster::server
