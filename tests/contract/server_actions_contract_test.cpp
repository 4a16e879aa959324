#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "contract/server_actions_fixture.hpp"

namespace muster {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

template <typename World>
class ServerActionsContract : public testing::Test {
 protected:
  ServerOutcome Do(ServerAction action) {
    Pending pending;
    world_.Actions().Start(ServerTask(1), std::move(action), pending.Done());
    world_.Settle();
    return pending.Get();
  }
  boost::json::object Echo(const ServerOutcome& outcome) {
    EXPECT_EQ(outcome.state, TaskState::kSucceeded) << outcome.reason;
    return boost::json::parse(outcome.output).as_object();
  }
  std::string Url(const std::string& path) { return world_.Url(path); }
  HttpAction Http(const std::string& path) { return {.url = Url(path)}; }

  World world_;
};

using Worlds = testing::Types<CurlWorld, FakeWorld>;
TYPED_TEST_SUITE(ServerActionsContract, Worlds);

TYPED_TEST(ServerActionsContract, BringsBackStatusBodyAndOutputs) {
  const auto outcome = this->Do(Get(this->Url("/json"), {{"id", "/id"},
                                                         {"name", "/name"},
                                                         {"ratio", "/ratio"},
                                                         {"up", "/up"},
                                                         {"none", "/none"},
                                                         {"slash", "/a~1b"},
                                                         {"item", "/items/1"},
                                                         {"deep", "/items/0/v"}}));
  EXPECT_EQ(outcome.state, TaskState::kSucceeded) << outcome.reason;
  EXPECT_EQ(outcome.status, 200);
  EXPECT_EQ(outcome.reason, "");
  EXPECT_THAT(outcome.output, HasSubstr("\"web\""));
  EXPECT_THAT(outcome.outputs,
              UnorderedElementsAre(Pair("id", "42"), Pair("name", "web"), Pair("ratio", "1.5"),
                                   Pair("up", "true"), Pair("none", "null"), Pair("slash", "slash"),
                                   Pair("item", R"({"v":"second"})"), Pair("deep", "first")));
}

TYPED_TEST(ServerActionsContract, AConditionBringsBackItsValueAlone) {
  ConditionAction action{.request = this->Http("/json"), .value = "/ratio"};
  const auto outcome = this->Do({.what = action});
  EXPECT_EQ(outcome.state, TaskState::kSucceeded) << outcome.reason;
  EXPECT_THAT(outcome.outputs, UnorderedElementsAre(Pair("value", "1.5")));
  action.value = "/nobody/knows";
  const auto without = this->Do({.what = action});
  EXPECT_EQ(without.state, TaskState::kSucceeded) << without.reason;
  EXPECT_TRUE(without.outputs.empty());
  action.request.url = this->Url("/status/503");
  EXPECT_EQ(this->Do({.what = action}).state, TaskState::kFailed);
}

TYPED_TEST(ServerActionsContract, AMissingOutputFailsAndIsNamed) {
  const auto outcome = this->Do(Get(this->Url("/json"), {{"id", "/id"}, {"owner", "/team/owner"}}));
  EXPECT_EQ(outcome.state, TaskState::kFailed);
  EXPECT_EQ(outcome.status, 200);
  EXPECT_THAT(outcome.reason, HasSubstr("/team/owner"));
  EXPECT_TRUE(outcome.outputs.empty());
}

TYPED_TEST(ServerActionsContract, AnAnswerThatIsNoJsonHasNoOutputs) {
  const auto outcome = this->Do(Get(this->Url("/status/200"), {{"id", "/id"}}));
  EXPECT_EQ(outcome.state, TaskState::kFailed);
  EXPECT_THAT(outcome.reason, HasSubstr("JSON"));
}

TYPED_TEST(ServerActionsContract, AnotherStatusFails) {
  const auto outcome = this->Do(Get(this->Url("/status/503")));
  EXPECT_EQ(outcome.state, TaskState::kFailed);
  EXPECT_EQ(outcome.status, 503);
  EXPECT_THAT(outcome.reason, HasSubstr("503"));
  EXPECT_THAT(outcome.reason, HasSubstr("what it says"));
  EXPECT_EQ(outcome.output, "what it says\n");
}

TYPED_TEST(ServerActionsContract, ExpectedStatusesReplaceTheUsualOnes) {
  HttpAction action = this->Http("/status/404");
  action.expect = {200, 404};
  EXPECT_EQ(this->Do({.what = action}).state, TaskState::kSucceeded);
  action.url = this->Url("/status/201");
  EXPECT_EQ(this->Do({.what = action}).state, TaskState::kFailed);
}

TYPED_TEST(ServerActionsContract, SendsMethodHeadersAndBody) {
  HttpAction action = this->Http("/echo");
  action.method = "PUT";
  action.headers = {{"X-Team", "ops"}, {"Authorization", "Bearer abcd"}};
  action.body = R"({"size": 3})";
  const auto echo = this->Echo(this->Do({.what = action}));
  EXPECT_EQ(echo.at("method"), "PUT");
  EXPECT_EQ(echo.at("body"), R"({"size": 3})");
  const auto& headers = echo.at("headers").as_object();
  EXPECT_EQ(headers.at("x-team"), "ops");
  EXPECT_EQ(headers.at("authorization"), "Bearer abcd");
  EXPECT_EQ(headers.at("content-type"), "application/json");
}

TYPED_TEST(ServerActionsContract, TimesOut) {
  HttpAction action = this->Http("/hang");
  action.timeout = std::chrono::milliseconds(200);
  EXPECT_EQ(this->Do({.what = action}).state, TaskState::kTimedOut);
}

TYPED_TEST(ServerActionsContract, WhatIsNoRequestIsRefused) {
  for (const std::string& url : {"", "example.com", "file:///etc/passwd", "ftp://127.0.0.1/"})
    EXPECT_EQ(this->Do(Get(url)).state, TaskState::kRefused) << url;
  HttpAction action = this->Http("/echo");
  action.headers = {{"X-A", "b\r\nX-C: d"}};
  EXPECT_EQ(this->Do({.what = action}).state, TaskState::kRefused);
  action.headers = {{"Host", "other.example.com"}};
  EXPECT_EQ(this->Do({.what = action}).state, TaskState::kRefused);
  action.headers = {};
  action.method = "GET / HTTP/1.1\r\nX: y";
  EXPECT_EQ(this->Do({.what = action}).state, TaskState::kRefused);
}

TYPED_TEST(ServerActionsContract, ATooLargeAnswerFails) {
  const auto outcome = this->Do(Get(this->Url("/big")));
  EXPECT_EQ(outcome.state, TaskState::kFailed);
  EXPECT_THAT(outcome.reason, HasSubstr("large"));
  EXPECT_LE(outcome.output.size(), ServerOutcome::kMostOutput);
}

TYPED_TEST(ServerActionsContract, ALongAnswerIsCut) {
  const auto outcome = this->Do(Get(this->Url("/long")));
  EXPECT_EQ(outcome.state, TaskState::kSucceeded) << outcome.reason;
  EXPECT_EQ(outcome.output.size(), ServerOutcome::kMostOutput);
}

TYPED_TEST(ServerActionsContract, SecretsDoNotComeBack) {
  HttpAction action = this->Http("/echo");
  action.headers = {{"Authorization", "Bearer hunter2hunter2"}};
  action.outputs = {{"sent", "/headers/authorization"}};
  ServerAction masked{.what = action, .masks = {"hunter2", "hunter2hunter2"}};
  auto outcome = this->Do(masked);
  EXPECT_THAT(outcome.output, Not(HasSubstr("hunter2")));
  EXPECT_THAT(outcome.outputs, UnorderedElementsAre(Pair("sent", "Bearer ***")));
  outcome = this->Do({.what = this->Http("/status/500?hunter2"), .masks = {"status"}});
  EXPECT_THAT(outcome.reason, Not(HasSubstr("hunter2")));
  EXPECT_THAT(outcome.reason, HasSubstr("/***/500"));
}

TYPED_TEST(ServerActionsContract, AWebhookGetsADocumentAboutTheRun) {
  const Channel channel{
      .name = "hook",
      .way = WebhookChannel{.url = this->Url("/echo"), .headers = {{"X-Key", "abcd"}}}};
  const auto echo = this->Echo(this->Do(Tell(channel)));
  EXPECT_EQ(echo.at("method"), "POST");
  EXPECT_EQ(echo.at("headers").at("x-key"), "abcd");
  EXPECT_EQ(echo.at("headers").at("idempotency-key"), "r12-3-1");
  EXPECT_EQ(echo.at("headers").at("content-type"), "application/json");
  const auto document = boost::json::parse(echo.at("body").as_string());
  const boost::json::value expected = {{"run", "r12"},
                                       {"job", "kernel-upgrade"},
                                       {"state", "failed"},
                                       {"message", "kernel-upgrade failed on 2 hosts"},
                                       {"url", "https://muster.example.com/runs/r12"}};
  EXPECT_EQ(document, expected);
}

TYPED_TEST(ServerActionsContract, AChatGetsText) {
  const Channel channel{.name = "chat", .way = ChatChannel{.url = this->Url("/echo")}};
  const auto echo = this->Echo(this->Do(Tell(channel, "a \"quoted\"\nmessage")));
  const auto document = boost::json::parse(echo.at("body").as_string());
  const boost::json::value expected = {
      {"text", "a \"quoted\"\nmessage\nhttps://muster.example.com/runs/r12"}};
  EXPECT_EQ(document, expected);
}

TYPED_TEST(ServerActionsContract, AChatThatSaysNoWithStatus200Failed) {
  const Channel channel{.name = "chat", .way = ChatChannel{.url = this->Url("/chat-no")}};
  EXPECT_EQ(this->Do(Tell(channel)).state, TaskState::kFailed);
}

TYPED_TEST(ServerActionsContract, AChatsUrlIsNotPartOfAReason) {
  const Channel channel{.name = "chat", .way = ChatChannel{.url = this->Url("/status/404/T0K3N")}};
  const auto outcome = this->Do(Tell(channel));
  EXPECT_EQ(outcome.state, TaskState::kFailed);
  EXPECT_THAT(outcome.reason, HasSubstr("channel chat"));
  EXPECT_THAT(outcome.reason, Not(HasSubstr("T0K3N")));
}

TYPED_TEST(ServerActionsContract, CancelEndsWhatIsUnderWay) {
  Pending pending;
  this->world_.Actions().Start(ServerTask(1), Get(this->Url("/hang")), pending.Done());
  this->world_.AwaitArrivals(1);
  this->world_.Actions().Cancel(ServerTask(2));
  EXPECT_FALSE(pending.Ended());
  this->world_.Actions().Cancel(ServerTask(1));
  EXPECT_EQ(pending.Get().state, TaskState::kKilled);
}

// Requests, each of a run of its own.
TYPED_TEST(ServerActionsContract, OnlySoManyAreUnderWayAndAStopEndsAll) {
  constexpr std::size_t kRequests = ServerActions::kAtOnce - ServerActions::kForMessages;
  constexpr std::size_t kMore = 4;
  std::vector<Pending> pending(kRequests + kMore);
  for (std::size_t i = 0; i < pending.size(); ++i)
    this->world_.Actions().Start(ServerTaskOf(i + 1, 1), Get(this->Url("/hang")),
                                 pending[i].Done());
  this->world_.AwaitArrivals(kRequests);

  this->world_.Actions().Cancel(ServerTaskOf(kRequests + 1, 1));
  EXPECT_EQ(pending[kRequests].Get().state, TaskState::kSkipped);
  this->world_.Actions().Cancel(ServerTaskOf(1, 1));
  EXPECT_EQ(pending[0].Get().state, TaskState::kKilled);
  this->world_.AwaitArrivals(kRequests + 1);  // the next one took its place

  this->world_.Actions().Stop();
  for (std::size_t i = 1; i < pending.size(); ++i) {
    if (i == kRequests) continue;
    ASSERT_TRUE(pending[i].Ended()) << i;
    EXPECT_EQ(pending[i].Get().state, i <= kRequests + 1 ? TaskState::kLost : TaskState::kSkipped)
        << i;
  }
}

TYPED_TEST(ServerActionsContract, RequestsWithoutAnAnswerHoldUpNoMessage) {
  std::vector<Pending> hanging(2 * ServerActions::kAtOnce);
  for (std::size_t i = 0; i < hanging.size(); ++i)
    this->world_.Actions().Start(ServerTaskOf(100 + i, 1), Get(this->Url("/hang")),
                                 hanging[i].Done());
  const Channel channel{.name = "hook", .way = WebhookChannel{.url = this->Url("/echo")}};
  EXPECT_EQ(this->Do(Tell(channel)).state, TaskState::kSucceeded);
}

TYPED_TEST(ServerActionsContract, OneRunsRequestsHoldUpNoOtherRuns) {
  std::vector<Pending> hanging(2 * ServerActions::kAtOnce);
  for (std::size_t i = 0; i < hanging.size(); ++i)
    this->world_.Actions().Start(ServerTaskOf(7, static_cast<std::uint32_t>(i + 1)),
                                 Get(this->Url("/hang")), hanging[i].Done());
  EXPECT_EQ(this->Do(Get(this->Url("/json"))).state, TaskState::kSucceeded);
}

TYPED_TEST(ServerActionsContract, AChannelWithoutAnAnswerHoldsUpNoOther) {
  const Channel silent{.name = "silent", .way = WebhookChannel{.url = this->Url("/hang")}};
  std::vector<Pending> hanging(2 * ServerActions::kAtOnce);
  for (std::size_t i = 0; i < hanging.size(); ++i)
    this->world_.Actions().Start(ServerTaskOf(100 + i, 1), Tell(silent), hanging[i].Done());
  const Channel channel{.name = "hook", .way = WebhookChannel{.url = this->Url("/echo")}};
  EXPECT_EQ(this->Do(Tell(channel)).state, TaskState::kSucceeded);
}

TYPED_TEST(ServerActionsContract, NothingBeginsAfterAStop) {
  this->world_.Actions().Stop();
  this->world_.Actions().Stop();
  EXPECT_EQ(this->Do(Get(this->Url("/json"))).state, TaskState::kSkipped);
}

TYPED_TEST(ServerActionsContract, ManyEndOnceEach) {
  std::vector<Pending> pending(100);
  for (std::size_t i = 0; i < pending.size(); ++i)
    this->world_.Actions().Start(ServerTask(static_cast<std::uint32_t>(i)), Get(this->Url("/json")),
                                 pending[i].Done());
  this->world_.Settle();
  for (auto& one : pending) EXPECT_EQ(one.Get().state, TaskState::kSucceeded);
}

}  // namespace
}  // namespace muster
