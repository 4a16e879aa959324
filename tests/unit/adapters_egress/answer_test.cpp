#include "adapters/egress/answer.hpp"

#include <optional>

#include <gtest/gtest.h>

namespace muster::outside {
namespace {

ServerOutcome Read(const std::string& pointer, std::string body, std::uint16_t status = 200) {
  ConditionAction action;
  action.value = pointer;
  return JudgeReading(action, "GET https://metrics.example",
                      {.status = status, .body = std::move(body)});
}

// The value of a good answer; nothing when it lacks it, "failed" when it is none.
std::optional<std::string> Value(const std::string& pointer, std::string body) {
  const auto outcome = Read(pointer, std::move(body));
  if (outcome.state != TaskState::kSucceeded) return "failed";
  if (outcome.outputs.empty()) return std::nullopt;
  EXPECT_EQ(outcome.outputs.size(), 1U);
  EXPECT_EQ(outcome.outputs[0].first, "value");
  return outcome.outputs[0].second;
}

TEST(Message, OfASecretUrlSaysNothingOfTheAnswer) {
  const std::string body = R"({"ok": false, "error": "no hook at chat.inner"})";
  ChannelMessage message{.channel = {.name = "ops", .way = ChatChannel{.url = "https://x"}},
                         .run = RunId(1),
                         .message = "hello"};
  EXPECT_EQ(JudgeMessage(message, "channel ops", {.status = 200, .body = body}).reason,
            "channel ops: did not take the message: " + body);
  message.secret_url = true;
  EXPECT_EQ(JudgeMessage(message, "channel ops", {.status = 200, .body = body}).reason,
            "channel ops: did not take the message");
  const auto outcome = JudgeMessage(message, "channel ops", {.status = 502, .body = "chat.inner"});
  EXPECT_EQ(outcome.reason, "channel ops: answered 502, expected 2xx");
  EXPECT_EQ(outcome.output, "");
}

TEST(Reading, FollowsThePointer) {
  const std::string body = R"({"data": {"result": [{"value": [1.5, "0.93"]}]}, "n": 7, "a": null})";
  EXPECT_EQ(Value("/data/result/0/value/1", body), "0.93");
  EXPECT_EQ(Value("/data/result/0/value/0", body), "1.5");
  EXPECT_EQ(Value("/n", body), "7");
  EXPECT_EQ(Value("/data/result/1/value", body), std::nullopt);
  EXPECT_EQ(Value("/a", body), std::nullopt);
  EXPECT_EQ(Value("/n/deeper", body), std::nullopt);
}

TEST(Reading, TakesTheBodyWithoutOne) {
  EXPECT_EQ(Value("", " 42\n"), "42");
  EXPECT_EQ(Value("", " \n"), std::nullopt);
}

TEST(Reading, OfWhatIsNoJsonFails) {
  for (const auto* body : {"", "<html>", "{", "{\"value\": 1} x"})
    EXPECT_EQ(Value("/value", body), "failed") << body;
  EXPECT_EQ(Value("/value", std::string(100'000, '[')), "failed");
}

TEST(Reading, OfALongValueFails) {
  EXPECT_EQ(Value("", std::string(2000, '1')), "failed");
  EXPECT_EQ(Value("/value", "{\"value\": \"" + std::string(2000, '1') + "\"}"), "failed");
}

TEST(Reading, OfTheStatusTakesAnyAnswer) {
  const auto outcome = Read("status", "out of order", 503);
  EXPECT_EQ(outcome.state, TaskState::kSucceeded);
  ASSERT_EQ(outcome.outputs.size(), 1U);
  EXPECT_EQ(outcome.outputs[0].second, "503");
}

TEST(Reading, HoldsTheStatusAgainstWhatIsExpected) {
  EXPECT_EQ(Read("/value", R"({"value": 1})", 503).state, TaskState::kFailed);
  ConditionAction action;
  action.value = "status";
  action.request.expect = {200, 404};
  EXPECT_EQ(JudgeReading(action, "GET", {.status = 404}).state, TaskState::kSucceeded);
  EXPECT_EQ(JudgeReading(action, "GET", {.status = 500}).state, TaskState::kFailed);
}

}  // namespace
}  // namespace muster::outside
