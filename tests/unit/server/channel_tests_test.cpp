#include "server/api/channel_tests.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace muster::server::api {
namespace {

TEST(ChannelTests, ACallerHasOneAtATime) {
  ChannelTests tests;
  auto first = tests.Begin("olga");
  ASSERT_TRUE(first);
  const auto second = tests.Begin("olga");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(tests.Begin("oscar"));
  first->reset();
  EXPECT_TRUE(tests.Begin("olga"));
}

TEST(ChannelTests, AllCallersTogetherHaveAFew) {
  ChannelTests tests;
  std::vector<std::shared_ptr<void>> open;
  for (std::size_t i = 0; i < ChannelTests::kMost; ++i)
    open.push_back(*tests.Begin(std::to_string(i)));
  EXPECT_FALSE(tests.Begin("late"));
  open.pop_back();
  EXPECT_TRUE(tests.Begin("late"));
}

}  // namespace
}  // namespace muster::server::api
