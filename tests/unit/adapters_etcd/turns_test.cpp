#include "adapters/etcd/turns.hpp"

#include <atomic>

#include <gtest/gtest.h>

#include "adapters/etcd/lead_time.hpp"
#include "support/eventually.hpp"

namespace muster::etcd {
namespace {

using namespace std::chrono_literals;
using Told = std::vector<std::string>;

class FakeClock final : public Clock {
 public:
  Now Read() const override { return {.wall = {}, .mono = {ms_}}; }
  void Set(std::int64_t ms) { ms_ = ms; }

 private:
  std::atomic<std::int64_t> ms_ = 1000;
};

class EtcdTurns : public testing::Test {
 protected:
  void Note(const std::string& what) EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    told_.push_back(what);
  }
  Told Await(std::size_t count) EXCLUDES(mutex_) {
    const auto all = [this] {
      base::Lock lock(mutex_);
      return told_;
    };
    Eventually([&] { return all().size() >= count; });
    return all();
  }
  void Enter() {
    ASSERT_TRUE(turns_.Enter("a", [this] { Note("elected"); }, [this] { Note("lost"); }));
  }
  // When this was told, all before it was.
  Told AfterChange(std::size_t count) {
    turns_.Changed();
    return Await(count);
  }

  FakeClock clock_;
  std::atomic<int> idle_ = 0;
  base::Mutex mutex_;
  Told told_ GUARDED_BY(mutex_);
  Turns turns_{clock_, [this] { ++idle_; }};
};

TEST_F(EtcdTurns, TimeThatRunsOutIsALossWithoutAnybodySayingSo) {
  Enter();
  ASSERT_TRUE(turns_.Won(turns_.Wanted()->number, {2000}));
  EXPECT_EQ(Await(1), Told{"elected"});
  EXPECT_EQ(turns_.LeadUntil(), MonoTime{2000});
  clock_.Set(2000);
  EXPECT_EQ(Await(2), (Told{"elected", "lost"}));
  EXPECT_EQ(turns_.LeadUntil(), MonoTime{0});
}

TEST_F(EtcdTurns, RenewalMovesTheTimeOnAndNeverBack) {
  Enter();
  ASSERT_TRUE(turns_.Won(turns_.Wanted()->number, {2000}));
  ASSERT_EQ(Await(1), Told{"elected"});
  turns_.Renewed({3000});
  turns_.Renewed({2500});
  EXPECT_EQ(turns_.LeadUntil(), MonoTime{3000});
}

TEST_F(EtcdTurns, RenewalDoesNotBridgeAGap) {
  Enter();
  ASSERT_TRUE(turns_.Won(turns_.Wanted()->number, {2000}));
  ASSERT_EQ(Await(1), Told{"elected"});
  clock_.Set(2001);
  turns_.Renewed({4000});
  EXPECT_EQ(turns_.LeadUntil(), MonoTime{0});
  EXPECT_EQ(Await(2), (Told{"elected", "lost"}));
}

TEST_F(EtcdTurns, VictoryOfAnOldCandidacyOrTooLateIsNone) {
  Enter();
  const auto old = turns_.Wanted()->number;
  turns_.Leave();
  EXPECT_FALSE(turns_.Wanted());
  EXPECT_FALSE(turns_.Won(old, {2000}));
  Enter();
  EXPECT_FALSE(turns_.Won(old, {2000}));
  EXPECT_FALSE(turns_.Won(turns_.Wanted()->number, {1000}));
  turns_.OnChange([this] { Note("changed"); });
  EXPECT_EQ(AfterChange(1), Told{"changed"});
}

TEST_F(EtcdTurns, NobodyWantsToLeadWhileALossIsBeingTold) {
  std::atomic<bool> stopped = false;
  ASSERT_TRUE(turns_.Enter(
      "a", [this] { Note("elected"); },
      [&] {
        Note("lost");
        Eventually([&] { return stopped.load(); });
      }));
  const auto number = turns_.Wanted()->number;
  ASSERT_TRUE(turns_.Won(number, {2000}));
  ASSERT_EQ(Await(1), Told{"elected"});
  turns_.Lost();
  ASSERT_EQ(Await(2), (Told{"elected", "lost"}));
  EXPECT_FALSE(turns_.Wanted());
  const int before = idle_;
  stopped = true;
  EXPECT_TRUE(Eventually([&] { return idle_ > before; }));
  ASSERT_TRUE(turns_.Wanted());
  EXPECT_FALSE(turns_.Wanted()->leads);
}

TEST_F(EtcdTurns, LossBeforeItsElectionWasToldIsNotTold) {
  std::atomic<bool> busy = true;
  turns_.OnChange([&] {
    Note("changed");
    Eventually([&] { return !busy; });
  });
  Enter();
  turns_.Changed();
  ASSERT_EQ(Await(1), Told{"changed"});
  ASSERT_TRUE(turns_.Won(turns_.Wanted()->number, {2000}));
  EXPECT_EQ(turns_.LeadUntil(), MonoTime{0});  // nobody acts yet
  turns_.Lost();
  busy = false;
  EXPECT_EQ(AfterChange(2), (Told{"changed", "changed"}));
}

TEST_F(EtcdTurns, WhoeverListensLaterIsToldOfWhatChangedBefore) {
  turns_.Changed();
  turns_.OnChange([this] { Note("changed"); });
  EXPECT_EQ(Await(1), Told{"changed"});
}

TEST(EtcdLeadTime, EndsATenthBeforeTheLeaseCan) { EXPECT_EQ(LeadTime({1000}, 2s), MonoTime{2800}); }

}  // namespace
}  // namespace muster::etcd
