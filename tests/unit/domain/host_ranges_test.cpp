#include "domain/host_ranges.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace muster {
namespace {

using testing::ElementsAre;

std::string Folded(std::vector<std::string> names, std::size_t limit = 0) {
  return FoldHostNames(names, limit);
}

rc::Gen<std::string> HostName() {
  // Few letters and many digits, so that names collide and fold.
  const auto first = rc::gen::element('a', 'b', '0', '1', '9');
  const auto rest = rc::gen::container<std::string>(rc::gen::weightedElement<char>(
      {{2, 'a'}, {4, '0'}, {6, '1'}, {4, '2'}, {4, '9'}, {1, '-'}, {1, '.'}}));
  return rc::gen::map(rc::gen::pair(first, rest), [](const std::pair<char, std::string>& parts) {
    return parts.first + parts.second.substr(0, 24);
  });
}

TEST(FoldHostNames, JoinsNeighboursAndKeepsZeros) {
  EXPECT_EQ(Folded({"web01", "web02", "web03", "db1"}), "db1,web[01-03]");
  EXPECT_EQ(Folded({"web9", "web10", "web11", "web13"}), "web[9-11,13]");
  EXPECT_EQ(Folded({"web08", "web09", "web10"}), "web[08-10]");
  EXPECT_EQ(Folded({"web1", "web01", "web2", "web02"}), "web[1-2,01-02]");
}

TEST(FoldHostNames, FoldsOverTheLastNumberThatVaries) {
  EXPECT_EQ(Folded({"a1b1", "a1b2", "a2b1", "a2b2"}), "a1b[1-2],a2b[1-2]");
  EXPECT_EQ(Folded({"web1.sh1", "web2.sh1", "web3.sh1"}), "web[1-3].sh1");
}

TEST(FoldHostNames, SaysHowManyAreLeftOut) {
  std::vector<std::string> names;
  for (int i = 1; i < 2000; i += 2) names.push_back(fmt::format("web{}", i));
  const auto text = FoldHostNames(names, 50);
  EXPECT_LT(text.size(), 100U);
  EXPECT_THAT(text, testing::HasSubstr(" more)"));
  EXPECT_EQ(Folded({}), "");
}

TEST(ExpandHostRanges, GivesEveryNameOnce) {
  EXPECT_THAT(*ExpandHostRanges("web[01-03,07]"), ElementsAre("web01", "web02", "web03", "web07"));
  EXPECT_THAT(*ExpandHostRanges("a[1-2]b[1-2], c"),
              ElementsAre("a1b1", "a1b2", "a2b1", "a2b2", "c"));
  EXPECT_THAT(*ExpandHostRanges("[9-11]"), ElementsAre("9", "10", "11"));
  EXPECT_THAT(*ExpandHostRanges("a,a"), ElementsAre("a"));
}

TEST(ExpandHostRanges, RefusesWhatIsMalformedOrTooLarge) {
  for (const auto* text : {"", "a,,b", "web[", "web]", "web[]", "web[a-b]", "web[3-1]", "web[1-03]",
                           "web[1-2", "web[[1]]", "web[1--2]", "web[1-99999999]",
                           "a[1-1000]b[1-1000]", "a[99999999999999999999]"}) {
    const auto names = ExpandHostRanges(text);
    ASSERT_FALSE(names) << text;
    EXPECT_EQ(names.error().code, ErrorCode::kInvalid);
  }
  EXPECT_FALSE(ExpandHostRanges("a[1-3],b", 3));
  EXPECT_TRUE(ExpandHostRanges("a[1-3]", 3));
}

TEST(NaturalLess, ComparesDigitRunsAsNumbers) {
  EXPECT_TRUE(NaturalLess("web2", "web10"));
  EXPECT_FALSE(NaturalLess("web10", "web2"));
  EXPECT_TRUE(NaturalLess("web2", "web02"));
  EXPECT_FALSE(NaturalLess("web2", "web2"));
  EXPECT_TRUE(NaturalLess("web", "web1"));
}

RC_GTEST_PROP(NaturalLess, IsATotalOrder, ()) {
  const auto a = *HostName();
  const auto b = *HostName();
  const auto c = *HostName();
  RC_ASSERT(NaturalLess(a, b) + NaturalLess(b, a) == (a == b ? 0 : 1));
  if (NaturalLess(a, b) && NaturalLess(b, c)) RC_ASSERT(NaturalLess(a, c));
}

RC_GTEST_PROP(FoldHostNames, ReadsBackAsTheSameSet, ()) {
  const auto names = *rc::gen::container<std::vector<std::string>>(HostName());
  RC_PRE(!names.empty());
  const auto back = ExpandHostRanges(FoldHostNames(names));
  RC_ASSERT(back.has_value());
  RC_ASSERT(std::set<std::string>(back->begin(), back->end()) ==
            std::set<std::string>(names.begin(), names.end()));
}

RC_GTEST_PROP(ExpandHostRanges, SurvivesAnyText, (const std::string& text)) {
  const auto names = ExpandHostRanges(text, 1000);
  if (names) RC_ASSERT(names->size() <= 1000U);
}

TEST(HostsText, CountsInPlainWords) {
  EXPECT_EQ(HostsText(0), "0 hosts");
  EXPECT_EQ(HostsText(1), "1 host");
  EXPECT_EQ(HostsText(10'000), "10000 hosts");
}

}  // namespace
}  // namespace muster
