#include "cli/terminal/question.hpp"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(SaysNumber, TakesANumberAsItIsShownToo) {
  EXPECT_TRUE(SaysNumber("1000", 1000));
  EXPECT_TRUE(SaysNumber("1,000", 1000));
  EXPECT_TRUE(SaysNumber("51", 51));
  EXPECT_FALSE(SaysNumber("10,00", 1000));
  EXPECT_FALSE(SaysNumber("y", 1000));
  EXPECT_FALSE(SaysNumber("", 0));
}

}  // namespace
}  // namespace muster::cli
