#include "cli/client/page_guard.hpp"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(PageGuard, TakesAListThatGoesOn) {
  PageGuard guard;
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(guard.Take(std::to_string(i), i % 2 == 0)) << i;
}

TEST(PageGuard, RefusesACursorThatComesAgain) {
  PageGuard guard;
  EXPECT_TRUE(guard.Take("a", false));
  EXPECT_TRUE(guard.Take("b", false));
  const auto again = guard.Take("a", false);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kInternal);
}

TEST(PageGuard, RefusesEmptyPagesWithoutEnd) {
  PageGuard guard;
  std::size_t taken = 0;
  while (guard.Take(std::to_string(taken), true)) ++taken;
  EXPECT_EQ(taken, PageGuard::kMostEmpty);
}

TEST(PageGuard, RefusesPagesWithoutEnd) {
  PageGuard guard;
  std::size_t taken = 0;
  while (guard.Take(std::to_string(taken), false)) ++taken;
  EXPECT_EQ(taken, PageGuard::kMostPages);
}

TEST(PageGuard, RefusesACursorWithoutEnd) {
  EXPECT_FALSE(PageGuard().Take(std::string(PageGuard::kMostCursor + 1, 'x'), false));
}

TEST(PageGuard, RefusesPagesThatAreTooLargeTogether) {
  PageGuard guard;
  const std::size_t page = PageGuard::kMostBytes / 4;
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(guard.Keep(page)) << i;
  const auto more = guard.Keep(1);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::kInternal);
}

}  // namespace
}  // namespace muster::cli
