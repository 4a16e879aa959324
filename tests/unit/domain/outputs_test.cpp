#include "domain/outputs.hpp"

#include <string>

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(OutputName, IsAsDocumented) {
  for (const auto* name : {"a", "_", "Z9", "kernel.version", "a-b", "_.-", "status"})
    EXPECT_TRUE(IsOutputName(name)) << name;
  for (const auto* name : {"", "9a", "-a", ".a", "a b", "a=b", "ä", "a\n", "a/b"})
    EXPECT_FALSE(IsOutputName(name)) << name;
  EXPECT_TRUE(IsOutputName(std::string(64, 'a')));
  EXPECT_FALSE(IsOutputName(std::string(65, 'a')));
}

}  // namespace
}  // namespace muster
