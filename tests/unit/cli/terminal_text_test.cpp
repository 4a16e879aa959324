#include "cli/terminal/terminal_text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text.hpp"

namespace muster::cli {
namespace {

TEST(ForTerminal, ShowsControlsAsSymbols) {
  EXPECT_EQ(ForTerminal("a\tb\n"), "a\tb\n");
  EXPECT_EQ(ForTerminal("\x1b]0;title\x07"), "␛]0;title␇");
  EXPECT_EQ(ForTerminal("\x1b[2J"), "␛[2J");
  EXPECT_EQ(ForTerminal("a\rb\x7f\b"), "a␍b␡␈");
  EXPECT_EQ(ForTerminal(std::string_view("\0", 1)), "␀");
}

TEST(ForTerminal, LetsColoursPass) {
  EXPECT_EQ(ForTerminal("\x1b[1;31mred\x1b[0m"), "\x1b[1;31mred\x1b[0m");
  EXPECT_EQ(ForTerminal("\x1b[31"), "␛[31");
  EXPECT_EQ(ForTerminal("\x1b[31;5K"), "␛[31;5K");
}

TEST(ForTerminal, ReplacesWhatIsNotText) {
  EXPECT_EQ(ForTerminal("grün"), "grün");
  EXPECT_EQ(ForTerminal("a\xff"), "a\xEF\xBF\xBD");
  EXPECT_EQ(ForTerminal("a\xc2\x9b"
                        "b"),
            "a\xEF\xBF\xBD"
            "b");  // CSI in one character
  EXPECT_EQ(ForTerminal("\xe2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(TerminalFilter, KeepsASplitSequenceTogether) {
  TerminalFilter filter;
  EXPECT_EQ(filter.Feed("a\x1b[3"), "a");
  EXPECT_EQ(filter.Feed("1mx\xc3"), "\x1b[31mx");
  EXPECT_EQ(filter.Feed("\xbc"), "ü");
  EXPECT_EQ(filter.Finish(), "");
}

RC_GTEST_PROP(TerminalFilter, NeverLetsAControlThrough, (const std::string& bytes)) {
  TerminalFilter filter;
  const auto cut = bytes.empty() ? 0 : *rc::gen::inRange<std::size_t>(0, bytes.size());
  const auto text =
      filter.Feed(bytes.substr(0, cut)) + filter.Feed(bytes.substr(cut)) + filter.Finish();
  RC_ASSERT(text == ForTerminal(bytes));
  RC_ASSERT(IsUtf8(text));
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == 0x1B)
      RC_ASSERT(text.find('m', i) != std::string::npos && text[i + 1] == '[');
    else
      RC_ASSERT(c >= 0x20 || c == '\t' || c == '\n');
  }
}

}  // namespace
}  // namespace muster::cli
