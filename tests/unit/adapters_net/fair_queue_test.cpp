#include "adapters/net/fair_queue.hpp"

#include <map>

#include <gtest/gtest.h>

namespace muster::net {
namespace {

class Fair : public ::testing::Test {
 protected:
  void Push(const std::string& source, int items = 1) {
    while (items-- > 0) queue_.Push(source, next_item_++);
  }
  // Takes the next one and charges its source for as much as `costs_` says, otherwise
  // 1,000.
  std::string Serve() {
    auto next = queue_.Take();
    if (!next) return "";
    const auto cost = costs_.find(next->first);
    queue_.Charge(next->first, cost == costs_.end() ? 1'000 : cost->second);
    return next->first;
  }
  std::string Serve(int times) {
    std::string order;
    while (times-- > 0) order += Serve();
    return order;
  }

  FairQueue<int> queue_;
  std::map<std::string, std::int64_t> costs_;
  int next_item_ = 0;
};

TEST_F(Fair, ItemsOfASourceKeepTheirOrder) {
  Push("a", 3);
  for (int item = 0; item < 3; ++item) {
    EXPECT_EQ(queue_.Take()->second, item);
    queue_.Charge("a", 1);
  }
  EXPECT_FALSE(queue_.Take());
}

TEST_F(Fair, SourcesTakeTurns) {
  Push("a", 3);
  Push("b", 3);
  EXPECT_EQ(Serve(7), "ababab");
}

TEST_F(Fair, CostlySourceIsServedLessOften) {
  costs_["a"] = 100'000;
  Push("a", 3);
  Push("b", 250);
  const std::string order = Serve(202);
  EXPECT_EQ(std::ranges::count(order, 'a'), 2);
}

TEST_F(Fair, NewSourceComesBeforeOneThatWasServed) {
  costs_["a"] = 1'000'000;
  Push("a", 5);
  Serve();
  Push("b");
  EXPECT_EQ(Serve(), "b");
}

TEST_F(Fair, SourcesThatAreNewAgainAndAgainDoNotStarveTheOthers) {
  costs_["a"] = 100'000;
  Push("a", 2);
  EXPECT_EQ(Serve(), "a");
  int before = 0;
  for (std::string served; served != "a"; ++before) {
    ASSERT_LT(before, 1000);
    Push("new " + std::to_string(before), 2);
    served = Serve();
  }
}

TEST_F(Fair, CostIsRememberedOfASourceThatComesBack) {
  costs_["a"] = 100'000;
  Push("b", 50);
  Push("a");
  EXPECT_EQ(Serve(2), "ba");
  Push("a");
  EXPECT_EQ(Serve(40), std::string(40, 'b'));
}

TEST_F(Fair, IdleSourceSavesUpNothing) {
  Push("b");
  Serve();
  Push("a", 100);
  Serve(50);
  Push("b", 4);
  EXPECT_EQ(Serve(8).find("bb"), std::string::npos);
}

TEST_F(Fair, ErasedItemsAreNotServed) {
  queue_.Push("a", 7);
  queue_.Push("a", 8);
  queue_.Push("b", 9);
  EXPECT_TRUE(queue_.Erase("a", 7));
  EXPECT_FALSE(queue_.Erase("a", 7));
  EXPECT_FALSE(queue_.Erase("c", 9));
  EXPECT_EQ(queue_.Take()->second, 8);
  EXPECT_TRUE(queue_.Erase("b", 9));
  queue_.Charge("a", 1);
  EXPECT_TRUE(queue_.empty());
}

TEST_F(Fair, LastItemMayBeErasedWhileAnotherIsServed) {
  queue_.Push("a", 1);
  queue_.Push("a", 2);
  EXPECT_EQ(queue_.Take()->second, 1);
  EXPECT_TRUE(queue_.Erase("a", 2));
  queue_.Charge("a", 5);
  EXPECT_EQ(queue_.sources(), 0U);
}

TEST_F(Fair, SourcesAreForgottenOnceTheyOweNothing) {
  Push("a");
  for (int i = 0; i < 100; ++i) Push("b" + std::to_string(i));
  Push("a", 300);
  Serve(400);
  EXPECT_LT(queue_.sources(), 5U);
}

}  // namespace
}  // namespace muster::net
