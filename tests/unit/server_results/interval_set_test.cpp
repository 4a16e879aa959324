#include "server/results/interval_set.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace muster::server {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(IntervalSet, JoinsWhatTouches) {
  IntervalSet set;
  for (const std::uint32_t value : {5U, 3U, 4U, 9U}) set.Insert(value);
  EXPECT_THAT(set.Ranges(10), ElementsAre(Pair(3, 6), Pair(9, 10)));
  EXPECT_EQ(set.Count(), 4U);
  EXPECT_EQ(set.First(), 3U);
}

TEST(IntervalSet, SplitsWhereOneLeaves) {
  IntervalSet set;
  set.InsertRange(0, 5);
  set.Erase(2);
  EXPECT_THAT(set.Ranges(10), ElementsAre(Pair(0, 2), Pair(3, 5)));
  EXPECT_THAT(set.Ranges(1), ElementsAre(Pair(0, 2)));
}

RC_GTEST_PROP(IntervalSet, HoldsWhatASetHolds, ()) {
  IntervalSet set;
  std::set<std::uint32_t> truth;
  for (const auto step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(-24, 24))) {
    const auto value = static_cast<std::uint32_t>(step < 0 ? -step - 1 : step);
    if (step < 0) {
      set.Erase(value);
      truth.erase(value);
    } else {
      set.Insert(value);
      truth.insert(value);
    }
    RC_ASSERT(set.Count() == truth.size());
  }
  std::set<std::uint32_t> held;
  std::uint32_t end = 0;
  for (const auto& [first, last] : set.Ranges(1000)) {
    RC_ASSERT(held.empty() || first > end);
    for (std::uint32_t i = first; i < last; ++i) held.insert(i);
    end = last;
  }
  RC_ASSERT(held == truth);
}

}  // namespace
}  // namespace muster::server
