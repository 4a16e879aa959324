#include <gtest/gtest.h>

#include "engine/state.hpp"

namespace muster::engine {
namespace {

// Visits of a run that goes on after a restore must not be taken for those before it.
TEST(FirstVisit, IsPastAllOfAFirstLifeInEveryOther) {
  EXPECT_EQ(FirstVisitOf(0), 0U);
  for (std::uint64_t space = 1; space < 100'000; ++space)
    ASSERT_GE(FirstVisitOf(space), 1U << 20) << space;
}

}  // namespace
}  // namespace muster::engine
