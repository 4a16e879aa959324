#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "adapters/egress/curl_actions.hpp"
#include "adapters/system/system_clock.hpp"
#include "ports/server_actions.hpp"
#include "support/fake_server_actions.hpp"
#include "support/outside_world.hpp"

namespace muster {

inline TaskKey ServerTask(std::uint32_t number) {
  return {.run = RunId(12), .visit = Visit(3), .ordinal = number, .attempt = Attempt(1)};
}

inline TaskKey ServerTaskOf(std::uint64_t run, std::uint32_t number) {
  TaskKey task = ServerTask(number);
  task.run = RunId(run);
  return task;
}

inline ServerAction Get(std::string url, std::map<std::string, std::string> outputs = {}) {
  return {.what = HttpAction{.url = std::move(url), .outputs = std::move(outputs)}};
}

inline ServerAction Tell(Channel channel, std::string text = "kernel-upgrade failed on 2 hosts") {
  return {.what = ChannelMessage{.channel = std::move(channel),
                                 .run = RunId(12),
                                 .job = "kernel-upgrade",
                                 .state = "failed",
                                 .message = std::move(text),
                                 .url = "https://muster.example.com/runs/r12"}};
}

// The outcome of one action, when it comes.
class Pending {
 public:
  ServerActions::Done Done() {
    return [promise = promise_](ServerOutcome outcome) { promise->set_value(std::move(outcome)); };
  }
  bool Ended() const {
    return future_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  ServerOutcome Get() {
    if (future_.wait_for(std::chrono::seconds(30)) != std::future_status::ready) {
      ADD_FAILURE() << "no outcome came";
      return {};
    }
    return future_.get();
  }

 private:
  std::shared_ptr<std::promise<ServerOutcome>> promise_ =
      std::make_shared<std::promise<ServerOutcome>>();
  std::future<ServerOutcome> future_ = promise_->get_future();
};

// An adapter and the world it calls.
class ActionsWorld {
 public:
  virtual ~ActionsWorld() = default;
  virtual ServerActions& Actions() = 0;
  virtual std::string Url(const std::string& path) = 0;
  // Lets happen what is due, until `count` requests have arrived since the start.
  virtual void AwaitArrivals(std::size_t count) = 0;
  // Lets happen what is due; for an adapter without a thread of its own.
  virtual void Settle() = 0;
};

class CurlWorld final : public ActionsWorld {
 public:
  explicit CurlWorld(outside::OutsideSettings settings = {.allow = {"127.0.0.1"}}) {
    auto made = outside::CurlActions::Make(settings, clock_);
    EXPECT_TRUE(made) << made.error().message;
    actions_ = std::move(*made);
    auto asking = outside::CurlActions::Make({.allow = {"127.0.0.1"}}, clock_);
    EXPECT_TRUE(asking);
    asking_ = std::move(*asking);
  }
  ServerActions& Actions() override { return *actions_; }
  std::string Url(const std::string& path) override { return world_.Http(path); }
  void Settle() override {}
  void AwaitArrivals(std::size_t count) override {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (Seen() < count) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << count << " never arrived";
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  outside::CurlActions& Curl() { return *actions_; }

 private:
  // Through an adapter of its own, so that asking takes no place of what is tested.
  std::size_t Seen() {
    Pending pending;
    asking_->Start(ServerTask(0), Get(Url("/seen"), {{"count", "/count"}}), pending.Done());
    const auto outcome = pending.Get();
    EXPECT_EQ(outcome.state, TaskState::kSucceeded) << outcome.reason;
    return outcome.outputs.empty() ? 0 : std::stoul(outcome.outputs[0].second);
  }

  OutsideWorld world_;
  SystemClock clock_;
  std::unique_ptr<outside::CurlActions> actions_;
  std::unique_ptr<outside::CurlActions> asking_;
};

class FakeWorld final : public ActionsWorld {
 public:
  ServerActions& Actions() override { return actions_; }
  std::string Url(const std::string& path) override { return "http://127.0.0.1:8080" + path; }
  void Settle() override {
    while (actions_.Step()) {
    }
    actions_.Expire();
  }
  void AwaitArrivals(std::size_t count) override {
    while (actions_.Step()) {
    }
    EXPECT_EQ(arrived_, count);
  }

 private:
  std::optional<outside::Answer> Answer(const outside::Request& request) {
    ++arrived_;
    const std::string& path = request.url.path;
    if (path == "/hang") return std::nullopt;
    if (path.starts_with("/status/"))
      return outside::Answer{static_cast<std::uint16_t>(std::stoi(path.substr(8))),
                             "what it says\n"};
    if (path == "/json")
      return outside::Answer{200, R"({"id": 42, "name": "web", "ratio": 1.5, "up": true,
        "none": null, "a/b": "slash", "items": [{"v": "first"}, {"v": "second"}]})"};
    if (path == "/big") return outside::Answer{200, std::string(2 << 20, 'x')};
    if (path == "/long") return outside::Answer{200, std::string(100 << 10, 'y')};
    if (path == "/chat-no") return outside::Answer{200, R"({"errcode": 310000})"};
    if (path != "/echo") return outside::Answer{404, ""};
    boost::json::object headers;
    for (const auto& [name, value] : request.headers) {
      std::string lower = name;
      for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      headers[lower] = value;
    }
    const boost::json::object echo{
        {"method", request.method}, {"path", path}, {"body", request.body}, {"headers", headers}};
    return outside::Answer{200, boost::json::serialize(echo)};
  }

  std::size_t arrived_ = 0;
  FakeServerActions actions_{[this](const outside::Request& request) { return Answer(request); },
                             *outside::Rules::Parse({"127.0.0.1"}, {}),
                             *outside::ParseAddress("127.0.0.1")};
};

}  // namespace muster
