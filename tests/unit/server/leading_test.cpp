#include "server/leading.hpp"

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
  leading.Led();
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
