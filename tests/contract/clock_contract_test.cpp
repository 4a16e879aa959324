#include <gtest/gtest.h>

#include "adapters/system/system_clock.hpp"

namespace muster {
namespace {

TEST(SystemClock, SteadyTimeNeverGoesBack) {
  const SystemClock clock;
  MonoTime last = clock.Read().mono;
  for (int i = 0; i < 10'000; ++i) {
    const MonoTime now = clock.Read().mono;
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(SystemClock, WallTimeIsInMillisecondsSince1970) {
  const WallTime now = SystemClock().Read().wall;
  EXPECT_GT(now.ms, 1'700'000'000'000);    // 2023
  EXPECT_LT(now.ms, 253'402'300'799'000);  // 9999
}

}  // namespace
}  // namespace muster
