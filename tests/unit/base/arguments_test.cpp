#include "base/arguments.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace muster {
namespace {

using Words = std::vector<std::string>;

Words Hidden(Words words) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  HideArgument(static_cast<int>(pointers.size()), pointers.data(), "--join");
  return words;
}

TEST(HideArgument, OverwritesTheValueAndNothingElse) {
  EXPECT_EQ(Hidden({"agent", "--name", "a", "--join", "token", "--data", "d"}),
            (Words{"agent", "--name", "a", "--join", "xxxxx", "--data", "d"}));
  EXPECT_EQ(Hidden({"agent", "--join=token", "--join-file", "f", "--join-file=f"}),
            (Words{"agent", "--join=xxxxx", "--join-file", "f", "--join-file=f"}));
  EXPECT_EQ(Hidden({"agent", "--join", "token", "--join", "other"}),
            (Words{"agent", "--join", "xxxxx", "--join", "xxxxx"}));
}

TEST(HideArgument, LeavesWordsOfOthersAndHalfAnOption) {
  EXPECT_EQ(Hidden({"agent", "--", "--join", "token"}), (Words{"agent", "--", "--join", "token"}));
  EXPECT_EQ(Hidden({"agent", "--join"}), (Words{"agent", "--join"}));
  EXPECT_EQ(Hidden({"agent", "--join="}), (Words{"agent", "--join="}));
  EXPECT_EQ(Hidden({"--join", "token"}), (Words{"--join", "token"}));
  EXPECT_EQ(Hidden({}), Words{});
}

}  // namespace
}  // namespace muster
