#include "base/text.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

std::string Cut(std::string text, std::size_t most) {
  CutText(text, most);
  return text;
}

TEST(WholeCharacters, EndBetweenTwoCharacters) {
  EXPECT_EQ(WholeCharacters("abc", 3), "abc");
  EXPECT_EQ(WholeCharacters("abc", 2), "ab");
  EXPECT_EQ(WholeCharacters("aäb", 2), "a");
  EXPECT_EQ(WholeCharacters("aäb", 3), "aä");
  EXPECT_EQ(WholeCharacters("😀", 3), "");
  EXPECT_EQ(WholeCharacters("ab", 0), "");
}

TEST(CutText, HasAtMostSoManyBytesWithItsMark) {
  EXPECT_EQ(Cut("abcdef", 6), "abcdef");
  EXPECT_EQ(Cut("abcdefg", 6), "abc…");
  EXPECT_EQ(Cut("abääää", 6), "ab…");
  EXPECT_EQ(Cut("abcd", 3), "…");
  EXPECT_EQ(Cut("abc", 2), "");
}

TEST(CutText, OfAnyTextIsText) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += "aä…😀";
  for (std::size_t most = 0; most < text.size(); ++most) {
    const auto cut = Cut(text, most);
    EXPECT_TRUE(IsUtf8(cut)) << most;
    EXPECT_LE(cut.size(), most);
    if (most > 6) EXPECT_GE(cut.size(), most - 3) << "no more than one character less";
  }
}

TEST(CutText, EndsWithBytesThatAreNoText) {
  EXPECT_EQ(Cut(std::string(10, '\x80'), 6), "…");
  EXPECT_EQ(Cut(std::string(10, '\xff'), 6), "\xff\xff\xff…");
}

TEST(CutLine, MarksWhatIsLeftOut) {
  EXPECT_EQ(CutLine("one", 10), "one");
  EXPECT_EQ(CutLine("one\ntwo", 10), "one…");
  EXPECT_EQ(CutLine("one\r\n", 10), "one…");
  EXPECT_EQ(CutLine("a long line\nanother", 10), "a long …");
  EXPECT_EQ(CutLine("eightabc\nmore", 10), "eightab…");
  EXPECT_EQ(CutLine("", 10), "");
}

}  // namespace
}  // namespace muster
