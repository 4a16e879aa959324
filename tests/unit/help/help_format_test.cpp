#include "help/help_format.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"

namespace muster::help {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(WrapWords, BreaksAtSpacesAndKeepsLongWordsWhole) {
  EXPECT_THAT(WrapWords("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(WrapWords("a  b", 80), ElementsAre("a  b"));
  EXPECT_THAT(WrapWords("abcdefghij k", 4), ElementsAre("abcdefghij", "k"));
  EXPECT_THAT(WrapWords("", 4), IsEmpty());
}

TEST(LayOutFooter, AlignsWhatExamplesDo) {
  EXPECT_EQ(LayOutFooter("Examples:\n  a b   one\n  a long     two", 40),
            "Examples:\n  a b     one\n  a long  two\n");
}

TEST(LayOutFooter, GoesOnBelowWhereThereIsNoRoomBeside) {
  const auto text = LayOutFooter(
      "Examples:\n  short    what it does\n"
      "  muster a command that is much longer than others   which has many words to tell about it");
  EXPECT_EQ(text,
            "Examples:\n  short  what it does\n"
            "  muster a command that is much longer than others\n"
            "         which has many words to tell about it\n");
}

TEST(LayOutFooter, LongCommandsGoOnAsAShellTakesThem) {
  const auto text =
      LayOutFooter("Examples:\n  muster cmd --first-option value --second-option v", 40);
  EXPECT_EQ(text, "Examples:\n  muster cmd --first-option value \\\n      --second-option v\n");
}

TEST(LayOutFooter, FillsParagraphsAndKeepsIndentedLines) {
  EXPECT_EQ(LayOutFooter("Examples:\n  x  y\n\nA line\nand another one.\n  kept   so", 16),
            "Examples:\n  x  y\n\nA line and\nanother one.\n  kept   so\n");
}

TEST(LayOutFooter, ALineWithADeeperIndentGoesOn) {
  EXPECT_EQ(LayOutFooter("Examples:\n  a   does\n        more"), "Examples:\n  a  does more\n");
}

}  // namespace
}  // namespace muster::help
