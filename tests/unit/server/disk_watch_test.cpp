#include "server/keeping/disk_watch.hpp"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

TEST(DiskFloor, IsTheSmallerOfShareAndSize) {
  const DiskFloor both = *ParseDiskFloor("5%,1GB");
  EXPECT_EQ(both.Of(1000 << 20), (1000ULL << 20) / 100 * 5);
  EXPECT_EQ(both.Of(1ULL << 40), 1ULL << 30);
  EXPECT_EQ(ParseDiskFloor("500MB")->Of(1ULL << 40), 500ULL << 20);
  EXPECT_EQ(ParseDiskFloor("10%")->Of(1000), 100U);
  EXPECT_EQ(ParseDiskFloor("0")->Of(1ULL << 40), 0U);
}

TEST(DiskFloor, RefusesWhatIsNeither) {
  for (const char* text : {"", "much", "100%", "%", "5%,x"})
    EXPECT_FALSE(ParseDiskFloor(text)) << text;
}

TEST(DiskWatch, IsLowBelowTheFloorAndWellAQuarterAbove) {
  DiskWatch watch(*ParseDiskFloor("1000"));
  EXPECT_FALSE(watch.See(1000, 10'000));
  EXPECT_FALSE(watch.Low());
  EXPECT_TRUE(watch.See(999, 10'000));
  EXPECT_TRUE(watch.Low());
  EXPECT_FALSE(watch.See(1249, 10'000));
  EXPECT_TRUE(watch.Low());
  EXPECT_TRUE(watch.See(1250, 10'000));
  EXPECT_FALSE(watch.Low());
}

TEST(DiskWatch, WithoutAFloorIsNeverLow) {
  DiskWatch watch(*ParseDiskFloor("0"));
  EXPECT_FALSE(watch.See(0, 10'000));
  EXPECT_FALSE(watch.Low());
}

}  // namespace
}  // namespace muster::server
