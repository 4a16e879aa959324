#include "base/visible.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(Visible, ShowsControlsAsSymbols) {
  EXPECT_EQ(VisibleLine("web\x1b[8m\x07\x7f"), "web␛[8m␇␡");
  EXPECT_EQ(VisibleLine("a\tb\r\nc"), "a\tb␍␊c");
  EXPECT_EQ(VisibleLine(std::string_view("a\0b", 3)), "a␀b");
  EXPECT_EQ(VisibleLines("a\nb\x1b"), "a\nb␛");
}

TEST(Visible, ReplacesControlsBeyondAscii) {
  EXPECT_EQ(VisibleLine("a\xc2\x9b"
                        "2J"),
            "a�2J");
  EXPECT_EQ(VisibleLine("a\u0085b\u2028c\u2029d"), "a�b�c�d");
}

TEST(Visible, KeepsTheReadingOrder) {
  EXPECT_EQ(VisibleLine("a\u202ab\u202eb\u2066c\u2069d"), "a�b�b�c�d");
  EXPECT_EQ(VisibleLine("שלום grün 漢字 😀"), "שלום grün 漢字 😀");
}

TEST(Visible, ShowsThatSomethingHasNoWidth) {
  EXPECT_EQ(VisibleLine("a\u200bb\u2060c\ufeffd\u00ade"), "a�b�c�d�e");
  EXPECT_EQ(VisibleLine("a\u200eb\u200fc\u061cd"), "a�b�c�d");
  EXPECT_EQ(VisibleLine("a\U000e0041b"), "a�b");
  EXPECT_EQ(VisibleLine("می\u200cخواهم 👩\u200d🔧"), "می\u200cخواهم 👩\u200d🔧") << "joiners";
}

TEST(Visible, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(VisibleLine("a\xff\xc3("), "a��(");
  EXPECT_EQ(VisibleLine("\xe2\x82"), "��");
}

TEST(FirstVisible, WaitsForTheRestOfACharacter) {
  EXPECT_FALSE(FirstVisible("\xe2\x82"));
  ASSERT_TRUE(FirstVisible("\xe2("));
  EXPECT_EQ(FirstVisible("\xe2(")->length, 1U);
}

}  // namespace
}  // namespace muster
