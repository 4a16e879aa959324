#include "server/egress/failing_channels.hpp"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

using Time = FailingChannels::Time;

TEST(FailingChannels, OneLineAMinuteAndChannelWithTheNumberOfOthers) {
  FailingChannels failing;
  const Time begin{};
  EXPECT_EQ(failing.Fail("ops", begin), 0U);
  for (int i = 0; i < 1000; ++i)
    EXPECT_FALSE(failing.Fail("ops", begin + std::chrono::milliseconds(59 * i)));
  EXPECT_EQ(failing.Fail("other", begin + std::chrono::seconds(1)), 0U);
  EXPECT_EQ(failing.Fail("ops", begin + std::chrono::minutes(1)), 1000U);
  EXPECT_FALSE(failing.Fail("ops", begin + std::chrono::minutes(1)));
  EXPECT_EQ(failing.Recover("ops"), 1U);
  EXPECT_EQ(failing.Recover("ops"), 0U);
  EXPECT_EQ(failing.Fail("ops", begin + std::chrono::minutes(1)), 0U) << "it is the first again";
}

TEST(FailingChannels, RemembersABoundedNumber) {
  FailingChannels failing;
  const Time begin{};
  for (std::size_t i = 0; i < FailingChannels::kMost; ++i)
    EXPECT_TRUE(failing.Fail(std::to_string(i), begin));
  EXPECT_FALSE(failing.Fail("one more", begin));
  EXPECT_EQ(failing.Fail("one more", begin + std::chrono::minutes(1)), 0U);
}

}  // namespace
}  // namespace muster::server
