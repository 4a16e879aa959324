#include "server/api/call_lanes.hpp"

#include <future>

#include <gtest/gtest.h>

#include "adapters/crypto/digest.hpp"
#include "server/api/router.hpp"
#include "support/eventually.hpp"

namespace muster::server::api {
namespace {

using namespace std::chrono_literals;

class FixedClock final : public Clock {
 public:
  Now Read() const override { return {.wall = {1'763'200'000'000}, .mono = {}}; }
};

// An exchange of which only the answer's status matters.
class Answered final : public net::HttpExchange {
 public:
  void Respond(net::HttpResponse response) override { status_.set_value(response.status); }
  void BeginStream(int, net::Headers) override {}
  void Write(std::string) override {}
  void End() override {}
  bool Gone() const override { return false; }
  std::size_t Unsent() const override { return 0; }
  void OnGone(std::function<void()>) override {}
  void BeginSized(int, net::Headers, std::uint64_t) override {}
  void OnRoom(std::size_t, std::function<void()>) override {}
  void ReadBody(std::function<void(net::BodyPiece)>) override {}
  void Keep(std::shared_ptr<void>) override {}

  std::future<int> Status() { return status_.get_future(); }

 private:
  std::promise<int> status_;
};

// Calls of several callers; slow ones take until the test lets them go.
class SharedWorkers : public ::testing::Test {
 protected:
  SharedWorkers() {
    people_.Take({Person("greedy", Role::kViewer), Person("other", Role::kViewer),
                  Person("op", Role::kOperator), Person("boss", Role::kAdmin)},
                 {}, true);
    const auto ok = [](const CallPtr& call) { call->Text(200, "text/plain", "ok"); };
    const auto slow = [this](const CallPtr& call) {
      ++begun_;
      go_.wait();
      call->Text(200, "text/plain", "ok");
    };
    router_.Add({{"GET", "/slow", Privilege::kView, slow},
                 {"GET", "/quick", Privilege::kView, ok},
                 {"GET", "/open", Privilege::kPublic, ok},
                 {"GET", "/slow-open", Privilege::kPublic, slow},
                 {"POST", "/stop", Privilege::kOperate, ok, !kOnRecord, kUrgent},
                 {"GET", "/health", Privilege::kPublic, ok, !kOnRecord, !kUrgent, Vital::kHealth}});
  }
  ~SharedWorkers() override {
    if (!let_go_) LetGo();
    workers_.Stop();
  }

  static Token Person(std::string name, Role role) {
    return {.name = name, .hash = crypto::Sha256("secret of " + name), .role = role};
  }
  std::future<int> Call(std::string method, std::string target, const std::string& token) {
    net::HttpRequest request{.method = std::move(method), .target = std::move(target)};
    request.headers.emplace_back("Authorization", "Bearer secret of " + token);
    auto exchange = std::make_shared<Answered>();
    router_.Handle(std::move(request), exchange);
    return exchange->Status();
  }
  static bool Is(std::future<int>& status, int wanted) {
    return status.wait_for(10s) == std::future_status::ready && status.get() == wanted;
  }
  static bool Waits(const std::future<int>& status) {
    return status.wait_for(50ms) == std::future_status::timeout;
  }
  void LetGo() {
    let_go_ = true;
    release_.set_value();
  }

  FixedClock clock_;
  std::promise<void> release_;
  std::shared_future<void> go_ = release_.get_future().share();
  bool let_go_ = false;
  std::atomic<int> begun_ = 0;
  FailureWatch failures_{{.per_minute = 1000}, [](const std::string&) {}};
  Refusals refusals_{failures_, clock_,
                     [](Duration, const std::function<void()>& work) { work(); }};
  Authenticator people_{"admin"};
  WorkerPool workers_{4};
  Router router_{people_, refusals_, workers_, clock_};
};

TEST_F(SharedWorkers, HealthWaitsForNoWorker) {
  std::vector<std::future<int>> slow;
  for (const auto* who : {"greedy", "other", "op", "boss"})
    for (int i = 0; i < 5; ++i) slow.push_back(Call("GET", "/slow", who));
  for (int i = 0; i < 5; ++i) slow.push_back(Call("GET", "/slow-open", "nobody"));
  EXPECT_TRUE(Eventually([this] { return begun_ == 4; })) << "all workers are taken";
  auto health = Call("GET", "/health", "nobody");
  EXPECT_TRUE(Is(health, 200));
}

TEST_F(SharedWorkers, OneCallerLeavesWorkersToOthers) {
  std::vector<std::future<int>> slow;
  for (int i = 0; i < 20; ++i) slow.push_back(Call("GET", "/slow", "greedy"));
  for (int i = 0; i < 20; ++i) {
    auto quick = Call("GET", "/quick", "other");
    EXPECT_TRUE(Is(quick, 200));
    auto open = Call("GET", "/open", "nobody");
    EXPECT_TRUE(Is(open, 200));
  }
  auto own = Call("GET", "/quick", "greedy");
  EXPECT_TRUE(Waits(own)) << "it waits behind the caller's own";
  // A worker may not have come to its second call yet; a third never begins.
  EXPECT_TRUE(Eventually([this] { return begun_ == 2; }));
  LetGo();
  for (auto& one : slow) EXPECT_TRUE(Is(one, 200));
  EXPECT_TRUE(Is(own, 200));
}

TEST_F(SharedWorkers, CallersWithoutANameHaveOneWorkerTogether) {
  std::vector<std::future<int>> slow;
  for (int i = 0; i < 20; ++i) slow.push_back(Call("GET", "/slow-open", "nobody"));
  for (int i = 0; i < 2; ++i) slow.push_back(Call("GET", "/slow", "greedy"));
  auto quick = Call("GET", "/quick", "other");
  EXPECT_TRUE(Is(quick, 200)) << "the fourth worker is free";
  EXPECT_TRUE(Eventually([this] { return begun_ == 3; }));
  for (int i = 0; i < 981; ++i) slow.push_back(Call("GET", "/slow-open", "nobody"));
  auto refused = Call("GET", "/slow-open", "nobody");
  EXPECT_TRUE(Is(refused, 429));
  EXPECT_EQ(begun_, 3);
  LetGo();
  for (auto& one : slow) EXPECT_TRUE(Is(one, 200));
}

TEST_F(SharedWorkers, AnAdminsUrgentCallsWaitForNobody) {
  std::vector<std::future<int>> slow;
  for (const char* caller : {"greedy", "other", "boss"})
    for (int i = 0; i < 5; ++i) slow.push_back(Call("GET", "/slow", caller));
  auto operators = Call("POST", "/stop", "op");
  EXPECT_TRUE(Waits(operators)) << "all workers are taken";
  for (int i = 0; i < 20; ++i) {
    auto stop = Call("POST", "/stop", "boss");
    EXPECT_TRUE(Is(stop, 200)) << "also past the admin's own calls";
  }
  LetGo();
  EXPECT_TRUE(Is(operators, 200));
  for (auto& one : slow) EXPECT_TRUE(Is(one, 200));
}

TEST_F(SharedWorkers, TooManyOfOneCallerAreRefused) {
  std::vector<std::future<int>> slow;
  for (int i = 0; i < 1'002; ++i) slow.push_back(Call("GET", "/slow", "greedy"));
  auto refused = Call("GET", "/slow", "greedy");
  EXPECT_TRUE(Is(refused, 429));
  auto other = Call("GET", "/quick", "other");
  EXPECT_TRUE(Is(other, 200));
  LetGo();
  for (auto& one : slow) EXPECT_TRUE(Is(one, 200));
}

TEST_F(SharedWorkers, CallsThatWaitAreAnsweredWhenTheServerStops) {
  std::vector<std::future<int>> slow;
  for (int i = 0; i < 10; ++i) slow.push_back(Call("GET", "/slow", "greedy"));
  std::thread stops([this] { workers_.Stop(); });
  LetGo();
  stops.join();
  for (auto& one : slow) EXPECT_EQ(one.wait_for(10s), std::future_status::ready);
}

}  // namespace
}  // namespace muster::server::api
