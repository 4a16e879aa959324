#include "base/activity.hpp"

#include <unistd.h>

#include <gtest/gtest.h>

namespace muster::base {
namespace {

TEST(Activity, WaitsUntilItWorks) {
  Activity activity("engine");
  EXPECT_EQ(activity.Look().thread, 0);
  activity.Attach();
  EXPECT_EQ(activity.Look().thread, ::gettid());
  EXPECT_FALSE(activity.Look().busy);
  {
    const Activity::Work mark(activity, "deciding");
    EXPECT_TRUE(activity.Look().busy);
    EXPECT_EQ(activity.Look().work, "deciding");
    EXPECT_EQ(activity.Look().done, 0u);
  }
  EXPECT_FALSE(activity.Look().busy);
  EXPECT_EQ(activity.Look().done, 1u);
}

}  // namespace
}  // namespace muster::base
