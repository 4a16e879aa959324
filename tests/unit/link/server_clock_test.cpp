#include "link/server_clock.hpp"

#include <gtest/gtest.h>

#include "link/backoff.hpp"

namespace muster::link {
namespace {

TEST(ServerClock, KnowsNothingBeforeTheFirstAnswer) { EXPECT_FALSE(ServerClock().Latest(5)); }

TEST(ServerClock, IsNeverBehindTheServer) {
  // The server's clock is the node's plus 1000; the answer took 300 ms to come back.
  ServerClock clock;
  clock.Answered(100, 1100 + 40, 440);  // asked at 100, read at 140 (node's clock), arrived at 440
  EXPECT_GE(*clock.Latest(440), 1440);
  EXPECT_GE(*clock.Latest(10'440), 11'440);
}

TEST(ServerClock, TakesTheTighterBound) {
  ServerClock clock;
  clock.Answered(0, 1900, 2000);     // up to 900 ms too high
  clock.Answered(3000, 4001, 3002);  // 1 ms too high
  EXPECT_EQ(*clock.Latest(3002), 4003);
  clock.Answered(4000, 6000, 9000);  // a slow answer does not spoil it
  EXPECT_LE(*clock.Latest(9000), 10'020);
  EXPECT_GE(*clock.Latest(9000), 10'000);
}

TEST(Backoff, GrowsAsFibonacciUpToItsBound) {
  Backoff backoff(std::chrono::seconds(10));
  std::vector<std::int64_t> middles;
  for (int i = 0; i < 8; ++i) {
    Backoff copy = backoff;
    const auto least = copy.Next(0).count();
    middles.push_back(least * 2);
    backoff.Next(12345);
  }
  EXPECT_EQ(middles,
            (std::vector<std::int64_t>{1000, 1000, 2000, 3000, 5000, 8000, 10'000, 10'000}));
}

}  // namespace
}  // namespace muster::link
