#include "server/api/drain_orders.hpp"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace muster::server::api {
namespace {

constexpr MonoTime kNow{};

// Servers that take part.
std::map<std::string, DrainOrders::Server> Working(const std::vector<std::string>& names) {
  std::map<std::string, DrainOrders::Server> servers;
  for (const auto& name : names) servers[name] = {};
  return servers;
}

TEST(DrainOrders, SecondOfTwoServersStays) {
  DrainOrders orders;
  EXPECT_TRUE(orders.Take("s2", Working({"s1", "s2"}), kNow));
  // That s2 drains is not seen yet.
  EXPECT_FALSE(orders.Take("s1", Working({"s1", "s2"}), kNow));
  EXPECT_TRUE(orders.Take("s1", Working({"s1", "s2", "s3"}), kNow));
  EXPECT_TRUE(orders.Take("s2", Working({"s1", "s2", "s3"}), kNow)) << "told again";
}

TEST(DrainOrders, ServerThatTakesPartAgainCounts) {
  DrainOrders orders;
  EXPECT_TRUE(orders.Take("s2", Working({"s1", "s2"}), kNow));
  orders.Drop("s2");
  EXPECT_TRUE(orders.Take("s1", Working({"s1", "s2"}), kNow));
}

TEST(DrainOrders, ServerThatWasRestartedAfterItDrainedCounts) {
  DrainOrders orders;
  auto servers = Working({"s1", "s2"});
  EXPECT_TRUE(orders.Take("s2", servers, kNow));
  servers["s2"] = {.takes_part = true, .drains = 1};
  EXPECT_TRUE(orders.Take("s1", servers, kNow));
}

TEST(DrainOrders, OrderToOneThatDrainsIsForgottenWithItsRestart) {
  DrainOrders orders;
  auto servers = Working({"s1", "s2"});
  servers["s2"] = {.takes_part = false, .drains = 1};
  EXPECT_TRUE(orders.Take("s2", servers, kNow)) << "told again";
  servers["s2"].takes_part = true;
  EXPECT_TRUE(orders.Take("s1", servers, kNow));
}

TEST(DrainOrders, AfterAWhileCountsWhatTheServersSay) {
  DrainOrders orders;
  EXPECT_TRUE(orders.Take("s2", Working({"s1", "s2"}), kNow));
  EXPECT_TRUE(orders.Take("s1", Working({"s1", "s2"}), kNow + std::chrono::minutes(1)));
}

TEST(DrainOrders, LastServerStays) {
  DrainOrders orders;
  EXPECT_FALSE(orders.Take("s1", Working({"s1"}), kNow));
}

}  // namespace
}  // namespace muster::server::api
