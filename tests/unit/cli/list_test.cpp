#include "cli/terminal/list.hpp"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(Tally, CountsStatesTheMostFrequentFirst) {
  Tally tally;
  EXPECT_EQ(tally.Text("host"), "0 hosts");
  tally.Add("offline");
  EXPECT_EQ(tally.Text("host"), "1 host: 1 offline");
  for (int i = 0; i < 1200; ++i) tally.Add("online");
  tally.Add("offline", 33);
  EXPECT_EQ(tally.Text("host"), "1,234 hosts: 1,200 online, 34 offline");
}

TEST(ShownText, RowsAreThoseOfTheTerminal) {
  EXPECT_EQ(ShownText().Rows(80), 0U);
  EXPECT_EQ(OwnText("a\n\nb\n").Rows(80), 3U);
  EXPECT_EQ(OwnText("a\nb").Rows(80), 2U);
  EXPECT_EQ(OwnText(std::string(80, 'x') + "\n" + std::string(81, 'x') + "\n").Rows(80), 3U);
  EXPECT_EQ(OwnText(std::string(81, 'x') + "\n").Rows(0), 1U);
  // Neither colours nor the bytes of one character count.
  EXPECT_EQ(OwnText(Paint("größe", Colour::kRed, true) + "\n").Rows(5), 1U);
}

}  // namespace
}  // namespace muster::cli
