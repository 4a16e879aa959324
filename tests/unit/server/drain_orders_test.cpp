#include "server/api/drain_orders.hpp"

#include <gtest/gtest.h>

namespace muster::server::api {
namespace {

constexpr MonoTime kNow{};

TEST(DrainOrders, SecondOfTwoServersStays) {
  DrainOrders orders;
  EXPECT_TRUE(orders.Take("s2", {"s1"}, kNow));
  // That s2 drains is not seen yet.
  EXPECT_FALSE(orders.Take("s1", {"s2"}, kNow));
  EXPECT_TRUE(orders.Take("s1", {"s2", "s3"}, kNow));
  EXPECT_TRUE(orders.Take("s2", {"s1", "s3"}, kNow)) << "told again";
}

TEST(DrainOrders, ServerThatTakesPartAgainCounts) {
  DrainOrders orders;
  EXPECT_TRUE(orders.Take("s2", {"s1"}, kNow));
  orders.Drop("s2");
  EXPECT_TRUE(orders.Take("s1", {"s2"}, kNow));
}

TEST(DrainOrders, AfterAWhileCountsWhatTheServersSay) {
  DrainOrders orders;
  EXPECT_TRUE(orders.Take("s2", {"s1"}, kNow));
  EXPECT_TRUE(orders.Take("s1", {"s2"}, kNow + std::chrono::minutes(1))) << "s2 was restarted";
}

TEST(DrainOrders, LastServerStays) {
  DrainOrders orders;
  EXPECT_FALSE(orders.Take("s1", {}, kNow));
}

}  // namespace
}  // namespace muster::server::api
