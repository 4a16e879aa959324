#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "adapters/crypto/digest.hpp"
#include "adapters/memory/memory_store.hpp"
#include "server/api/check_period.hpp"
#include "server/api/router.hpp"
#include "server/planning/target_lookup.hpp"
#include "support/eventually.hpp"

// What ends the work for a call.
namespace muster::server::api {
namespace {

using namespace std::chrono_literals;

class PassingClock final : public Clock {
 public:
  Now Read() const override { return {.wall = {1'763'200'000'000}, .mono = MonoTime{} + passed_}; }
  void Pass(Duration time) { passed_ = passed_.load() + time; }

 private:
  std::atomic<Duration> passed_{Duration::zero()};
};

// What became of an exchange, and whether its client is there.
struct Fate {
  std::atomic<int> status{0};
  std::atomic<bool> gone{false};
};

class WatchedExchange final : public net::HttpExchange {
 public:
  explicit WatchedExchange(std::shared_ptr<Fate> fate) : fate_(std::move(fate)) {}
  void Respond(net::HttpResponse response) override { fate_->status = response.status; }
  void BeginStream(int, net::Headers) override {}
  void Write(std::string) override {}
  void End() override {}
  bool Gone() const override { return fate_->gone; }
  std::size_t Unsent() const override { return 0; }
  void OnGone(std::function<void()>) override {}
  void BeginSized(int, net::Headers, std::uint64_t) override {}
  void OnRoom(std::size_t, std::function<void()>) override {}
  void ReadBody(std::function<void(net::BodyPiece)>) override {}
  void Keep(std::shared_ptr<void>) override {}

 private:
  const std::shared_ptr<Fate> fate_;  // shared with the test
};

// One worker; calls of /long work until they shall not go on.
class LongCalls : public ::testing::Test {
 protected:
  LongCalls() {
    people_.Take({Person()}, {}, true);
    const auto work = [this](const CallPtr& call) {
      ++begun_;
      while (call->GoesOn()) std::this_thread::yield();
      call->Fail(call->GoesOn().error());
    };
    const auto ok = [this](const CallPtr& call) {
      ++begun_;
      call->Text(200, "text/plain", "ok");
    };
    router_.Add({{"GET", "/long", Privilege::kView, work},
                 {"GET", "/quick", Privilege::kView, ok},
                 {"POST", "/change", Privilege::kView, ok}});
  }
  ~LongCalls() override {
    router_.EndWork();
    workers_.Stop();
  }

  static Token Person() {
    return {.name = "vera", .hash = crypto::Sha256("secret"), .role = Role::kViewer};
  }
  void Revoke() {
    Token token = Person();
    token.revoked = clock_.Read().wall;
    people_.Take({token}, {}, false);
  }
  std::shared_ptr<Fate> Call(std::string method, std::string target) {
    net::HttpRequest request{.method = std::move(method), .target = std::move(target)};
    request.headers.emplace_back("Authorization", "Bearer secret");
    auto fate = std::make_shared<Fate>();
    router_.Handle(std::move(request), std::make_shared<WatchedExchange>(fate));
    return fate;
  }
  std::shared_ptr<Fate> Begun() {
    auto fate = Call("GET", "/long");
    EXPECT_TRUE(Eventually([&] { return begun_ == 1; }));
    return fate;
  }
  static bool Ends(const std::shared_ptr<Fate>& fate, int status) {
    return Eventually([&] { return fate->status == status; });
  }

  PassingClock clock_;
  std::atomic<int> begun_{0};
  WorkerPool workers_{1};
  FailureWatch failures_{{.per_minute = 1000}, [](const std::string&) {}};
  Refusals refusals_{failures_, clock_,
                     [](Duration, const std::function<void()>& work) { work(); }};
  Authenticator people_{"admin"};
  Router router_{people_, refusals_, workers_, clock_};
};

TEST_F(LongCalls, EndAfterTheirTime) {
  const auto call = Begun();
  clock_.Pass(Call::kLongestWork - 1ms);
  EXPECT_EQ(call->status, 0);
  clock_.Pass(1ms);
  EXPECT_TRUE(Ends(call, 504));
}

TEST_F(LongCalls, EndWithTheirClient) {
  const auto call = Begun();
  call->gone = true;
  EXPECT_TRUE(Ends(call, 503));
}

TEST_F(LongCalls, EndWithTheirTokenAndSoDoTheCallsThatWait) {
  const auto call = Begun();
  const auto waiting = Call("GET", "/long");
  const auto change = Call("POST", "/change");
  Revoke();
  EXPECT_TRUE(Ends(call, 403));
  EXPECT_TRUE(Ends(waiting, 403));
  EXPECT_TRUE(Ends(change, 403));
  EXPECT_EQ(begun_, 1);
}

TEST_F(LongCalls, EndWithTheServerAndSoDoTheCallsThatWait) {
  const auto call = Begun();
  const auto waiting = Call("GET", "/quick");
  router_.EndWork();
  EXPECT_TRUE(Ends(call, 503));
  EXPECT_TRUE(Ends(waiting, 503));
  EXPECT_EQ(begun_, 1);
}

TEST_F(LongCalls, AreNotBegunForClientsThatLeftUnlessTheyChangeSomething) {
  const auto call = Begun();
  const auto read = Call("GET", "/quick");
  const auto change = Call("POST", "/change");
  read->gone = true;
  change->gone = true;
  call->gone = true;
  EXPECT_TRUE(Ends(change, 200));
  EXPECT_EQ(read->status, 503);
  EXPECT_EQ(begun_, 2);
}

TEST(CheckPeriod, EndsNowAtTheLatest) {
  const WallTime now = ParseTime("2027-03-28T12:00:00Z");
  const auto period_of = [now](const std::string& query) {
    const api::Call call({.method = "GET", .target = "/x?" + query},
                         std::make_shared<WatchedExchange>(std::make_shared<Fate>()), "q1");
    return PeriodOf(call, now);
  };
  const auto period = period_of("until=9999-12-31T23:59:59Z");
  ASSERT_TRUE(period);
  EXPECT_EQ(period->until, now);
  const auto later = period_of("since=2027-03-28T13:00:00Z&until=2027-03-28T14:00:00Z");
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().code, ErrorCode::kInvalid);
}

TEST(TargetLookups, EndWhenTheCallDoes) {
  MemoryStore store;
  int asked = 0;
  TargetLookup lookup(
      store, [](const TargetLookup::SeeHosts&) {},
      [&asked]() -> Result<> {
        if (++asked < 2) return {};
        return Fail(ErrorCode::kTimeout, "enough");
      });
  const auto expression = lookup.Parse("run:r1 or run:1 or run:r2 or run:r3");
  ASSERT_FALSE(expression);
  EXPECT_EQ(expression.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(asked, 2) << "r1 is looked up once, and r3 is not any more";
}

}  // namespace
}  // namespace muster::server::api
