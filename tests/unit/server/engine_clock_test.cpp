#include <atomic>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "adapters/local/local_coordinator.hpp"
#include "adapters/local/local_election.hpp"
#include "adapters/memory/memory_store.hpp"
#include "ports/forwarding_store.hpp"
#include "server/leading/engine_thread.hpp"
#include "server/leading/store_probe.hpp"
#include "support/eventually.hpp"
#include "support/no_links.hpp"

namespace muster::server {
namespace {

using std::chrono::hours;

// Two clocks, of which somebody sets one.
class TwoClocks final : public Clock {
 public:
  Now Read() const override { return {.wall = {ms_ + set_}, .mono = {ms_.load()}}; }
  WallTime True() const { return {ms_.load()}; }
  void Advance(Duration by) { ms_ += by.count(); }
  void Set(Duration ahead) { set_ = ahead.count(); }

 private:
  std::atomic<std::int64_t> ms_ = 1'700'000'000'000;
  std::atomic<std::int64_t> set_ = 0;
};

// A store on a machine whose clock is right.
class StoreWithClock final : public ForwardingStore {
 public:
  StoreWithClock(Store& next, const TwoClocks& clock) : ForwardingStore(next), clock_(clock) {}
  Result<std::optional<WallTime>> ReadClock() override {
    if (away) return Fail(ErrorCode::kUnavailable, "the store is away");
    return clock_.True();
  }
  std::atomic<bool> away = false;

 private:
  const TwoClocks& clock_;
};

class EngineClockTest : public ::testing::Test {
 protected:
  void Start() {
    thread_.SetJudge(judge_);
    thread_.SetPulse(pulse_);
    ASSERT_TRUE(thread_.Start());
    pulse_.Start();
  }
  void TearDown() override { pulse_.Stop(); }

  bool Leads() const { return thread_.GetStatus().leading; }

  MemoryStore memory_;
  TwoClocks clock_;
  StoreWithClock store_{memory_, clock_};
  NoLinks links_;
  std::shared_ptr<LocalElection> election_ = std::make_shared<LocalElection>();
  LocalCoordinator coordinator_{election_};
  LocalCoordinator other_{election_};  // another server, which never asks to lead
  ClockJudge judge_;
  EngineThread thread_{store_, links_, coordinator_, clock_, [](const auto&) {}, {}, "test"};
  StorePulse pulse_{store_, clock_, judge_, [this] { thread_.Look(); }};
};

TEST_F(EngineClockTest, ALeaderWhoseClockIsSetStopsAndLeadsAgainWhenItIsRight) {
  Start();
  ASSERT_TRUE(Eventually([&] { return Leads(); }));
  clock_.Set(hours(1));
  ASSERT_TRUE(Eventually([&] { return !Leads(); }));
  EXPECT_NE(thread_.CannotLead().find("1h ahead"), std::string::npos);
  EXPECT_TRUE(
      Eventually([&] { return thread_.GetStatus().reason.find("ahead") != std::string::npos; }));
  EXPECT_EQ(coordinator_.Leader(), "");
  clock_.Set(hours(0));
  clock_.Advance(Leading::kMakeRoomFor);
  EXPECT_TRUE(Eventually([&] { return Leads(); }));
  EXPECT_TRUE(Eventually([&] { return thread_.GetStatus().reason.empty(); }));
}

TEST_F(EngineClockTest, ALeaderWithoutAnAnswerOfItsStoreMakesRoomAndComesBackWhenItAnswers) {
  coordinator_.Announce({.name = "test", .url = ""});
  other_.Announce({.name = "other", .url = ""});
  Start();
  ASSERT_TRUE(Eventually([&] { return Leads(); }));
  store_.away = true;
  ASSERT_TRUE(Eventually([&] { return pulse_.UnansweredSince() != kNever; }));
  EXPECT_EQ(pulse_.Trouble(), "");
  EXPECT_TRUE(Leads());
  clock_.Advance(Leading::kMostSilent + Duration(1));
  ASSERT_TRUE(Eventually([&] { return !Leads() && coordinator_.Leader().empty(); }));
  EXPECT_NE(thread_.CannotLead(), "");
  clock_.Advance(Leading::kMostRoom);
  EXPECT_TRUE(Eventually(
      [&] { return thread_.GetStatus().reason.find("the store is away") != std::string::npos; }));
  EXPECT_EQ(coordinator_.Leader(), "") << "it does not compete in vain";
  store_.away = false;
  EXPECT_TRUE(Eventually([&] { return Leads(); }));
}

TEST_F(EngineClockTest, AServerThatStartsWithAWrongClockDoesNotCompete) {
  clock_.Set(-hours(1));
  Start();
  ASSERT_TRUE(Eventually([&] { return !thread_.CannotLead().empty(); }));
  ASSERT_TRUE(Eventually([&] { return coordinator_.Leader().empty(); }));
  EXPECT_FALSE(Leads());
  clock_.Set(hours(0));
  clock_.Advance(Leading::kMakeRoomFor);
  EXPECT_TRUE(Eventually([&] { return Leads(); }));
}

}  // namespace
}  // namespace muster::server
