#include "domain/restore.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

constexpr std::int64_t kMinute = 60'000;

TEST(RestoreLeap, IsAboveWhateverTheBackupKnew) {
  const auto leap = LeapOf(0, {1'000'000}, {1'000'000});
  EXPECT_EQ(leap.term, 1ULL << 32);
  EXPECT_EQ(leap.id_space, 1U);
}

TEST(RestoreLeap, OfALaterRestoreOfTheSameBackupIsHigher) {
  RestoreLeap before = LeapOf(3, {0}, {0});
  for (std::int64_t minutes : {1, 2, 60, 40'000, 50'000, 60'000, 1'000'000}) {
    const auto leap = LeapOf(3, {0}, {minutes * kMinute});
    EXPECT_GT(leap.term, before.term) << minutes;
    EXPECT_GT(leap.id_space, before.id_space) << minutes;
    EXPECT_LE(3 + leap.id_space, kLargestIdSpace) << minutes;
    before = leap;
  }
}

TEST(RestoreLeap, ClockSetBackStillLeaps) {
  EXPECT_EQ(LeapOf(0, {kMinute * 100}, {0}).id_space, 1U);
}

TEST(RestoreLeap, SaysWhenNoIdSpaceIsLeft) {
  EXPECT_EQ(LeapOf(kLargestIdSpace, {0}, {0}).id_space, 0U);
}

}  // namespace
}  // namespace muster
