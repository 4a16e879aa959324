#include "server/leading/leading.hpp"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

TEST(Leading, ActsOnlyBeforeTheTimeIsOver) {
  EXPECT_TRUE(Leading::MayAct(true, MonoTime{99}, MonoTime{100}));
  EXPECT_FALSE(Leading::MayAct(true, MonoTime{100}, MonoTime{100}));
  EXPECT_FALSE(Leading::MayAct(false, MonoTime{99}, MonoTime{100}));
}

TEST(Leading, MakesRoomAfterThreeTriesIfThereIsAnother) {
  Leading leading;
  EXPECT_TRUE(leading.TriesAt(MonoTime{0}));
  EXPECT_FALSE(leading.Failed(MonoTime{0}, 2));
  EXPECT_FALSE(leading.TriesAt(MonoTime{499}));
  EXPECT_FALSE(leading.Failed(MonoTime{500}, 2));
  EXPECT_TRUE(leading.Failed(MonoTime{1000}, 2));
  EXPECT_FALSE(leading.Failed(MonoTime{1500}, 1));
  leading.Led(MonoTime{1500});
  EXPECT_FALSE(leading.Failed(MonoTime{2000}, 2));
}

TEST(Leading, MakesRoomWhenTheStoreIsSilentForTooLong) {
  Leading leading;
  EXPECT_FALSE(leading.Stalls(MonoTime{0}, true, 3));
  EXPECT_FALSE(leading.Stalls(MonoTime{4000}, false, 3));
  EXPECT_FALSE(leading.Stalls(MonoTime{5000}, true, 3));
  EXPECT_FALSE(leading.Stalls(MonoTime{10'000}, true, 3));
  EXPECT_FALSE(leading.Stalls(MonoTime{10'001}, true, 1));
  EXPECT_TRUE(leading.Stalls(MonoTime{10'001}, true, 3));
  leading.MadeRoom(MonoTime{10'001});
  EXPECT_EQ(leading.campaign_again(), MonoTime{14'001});
  EXPECT_FALSE(leading.Stalls(MonoTime{20'000}, true, 3));
}

TEST(Leading, MakesRoomWhenNothingIsHeardOfTheStore) {
  EXPECT_FALSE(Leading::Silent(MonoTime{90'000}, kNever, 3));
  EXPECT_FALSE(Leading::Silent(MonoTime{9000}, MonoTime{5000}, 3));
  EXPECT_TRUE(Leading::Silent(MonoTime{9001}, MonoTime{5000}, 3));
  EXPECT_FALSE(Leading::Silent(MonoTime{9001}, MonoTime{5000}, 1));
}

TEST(Leading, StaysAwayForLongerEachTimeItGivesUpAYoungLeadership) {
  Leading leading;
  leading.Led(MonoTime{0});
  leading.GaveUp(MonoTime{100'000});
  EXPECT_EQ(leading.campaign_again(), MonoTime{104'000});
  std::int64_t now = 110'000;
  for (const std::int64_t away : {8'000, 16'000, 32'000, 32'000}) {
    leading.Led({now});
    leading.GaveUp({now + 5'000});
    EXPECT_EQ(leading.campaign_again(), MonoTime{now + 5'000 + away});
    now += 60'000;
  }
  leading.MadeRoom({now});
  EXPECT_EQ(leading.campaign_again(), MonoTime{now + 4'000}) << "a store that is away for all";
  leading.Led({now});
  leading.GaveUp({now + 60'000});
  EXPECT_EQ(leading.campaign_again(), MonoTime{now + 64'000}) << "it led for long enough";
}

TEST(Leading, RefusesAClockThatIsOffByMoreThanASecond) {
  EXPECT_TRUE(Leading::CheckClock(WallTime{5000}, WallTime{6000}, WallTime{5000}));
  EXPECT_TRUE(Leading::CheckClock(WallTime{5000}, WallTime{9000}, WallTime{8500}));
  const auto ahead = Leading::CheckClock(WallTime{5000}, WallTime{3999}, WallTime{5000});
  ASSERT_FALSE(ahead);
  EXPECT_EQ(ahead.error().code, ErrorCode::kConflict);
  EXPECT_FALSE(Leading::CheckClock(WallTime{5000}, WallTime{6001}, WallTime{5000}));
}

}  // namespace
}  // namespace muster::server
