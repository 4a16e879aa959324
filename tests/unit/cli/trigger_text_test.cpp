#include "cli/triggers/trigger_text.hpp"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(Distance, SaysOfATimeThatHasPassedThatItIsDue) {
  const WallTime now{1'000'000};
  EXPECT_EQ(Distance({now.ms + 5'000}, now), "in 5s");
  EXPECT_EQ(Distance({now.ms - 37'000}, now), "due, waits 37s");
  EXPECT_EQ(Distance(now, now), "due, waits 0s");
}

}  // namespace
}  // namespace muster::cli
