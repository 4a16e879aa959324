#include "cli/terminal/text_diff.hpp"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(TextDiff, EqualTextsDoNotDiffer) {
  EXPECT_EQ(TextDiff("", ""), "");
  EXPECT_EQ(TextDiff("a\nb\n", "a\nb\n"), "");
}

TEST(TextDiff, ShowsWhatWentAndCameWithTheLinesAround) {
  EXPECT_EQ(TextDiff("1\n2\n3\n4\nold\n6\n7\n8\n9\n", "1\n2\n3\n4\nnew\n6\n7\n8\n9\n"),
            "@@\n 2\n 3\n 4\n-old\n+new\n 6\n 7\n 8\n");
}

TEST(TextDiff, NewTextIsAllNew) { EXPECT_EQ(TextDiff("", "a\nb"), "+a\n+b\n"); }

TEST(TextDiff, DistantPlacesAreApart) {
  std::string from;
  for (int i = 0; i < 20; ++i) from += std::to_string(i) + "\n";
  const std::string to = "first\n" + from + "last\n";
  EXPECT_EQ(TextDiff(from, to), "+first\n 0\n 1\n 2\n@@\n 17\n 18\n 19\n+last\n");
}

TEST(TextDiff, MovedLinesKeepTheLongestCommonPart) {
  EXPECT_EQ(TextDiff("a\nb\nc\n", "b\nc\na\n"), "-a\n b\n c\n+a\n");
}

}  // namespace
}  // namespace muster::cli
