#include "server/results/host_folds.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text.hpp"
#include "domain/host_ranges.hpp"

namespace muster::server {
namespace {

std::shared_ptr<const Targets> TargetsOf(const std::vector<std::string>& names) {
  Targets targets;
  for (const auto& name : names) targets.push_back({HostId(targets.size() + 1), name});
  return std::make_shared<const Targets>(std::move(targets));
}

std::string FoldAll(const std::vector<std::string>& names, std::size_t limit = 10'000) {
  const HostFolds folds(TargetsOf(names));
  const std::vector<IntervalSet::Range> all{{0, static_cast<std::uint32_t>(names.size())}};
  return folds.Fold(all, static_cast<std::uint32_t>(names.size()), limit);
}

TEST(HostFolds, FoldsNamesThatCountOn) {
  EXPECT_EQ(FoldAll({"db1", "web01", "web02", "web03"}), "db1,web[01-03]");
  EXPECT_EQ(FoldAll({"web9", "web10", "web11", "web13"}), "web[9-11,13]");
  EXPECT_EQ(FoldAll({"web1.sh1", "web2.sh1", "web3.sh1"}), "web[1-3].sh1");
  EXPECT_EQ(FoldAll({"a1b1", "a1b2", "a2b1", "a2b2"}), "a1b[1-2],a2b[1-2]");
  EXPECT_EQ(FoldAll({"w1", "w3", "w5", "w6"}), "w[1,3,5-6]");
  EXPECT_EQ(FoldAll({"alone"}), "alone");
}

TEST(HostFolds, FoldsOnlyTheHostsAskedFor) {
  const HostFolds folds(TargetsOf({"w1", "w2", "w3", "w4", "w5"}));
  const std::vector<IntervalSet::Range> some{{0, 2}, {3, 5}};
  EXPECT_EQ(folds.Fold(some, 4, 1000), "w[1-2,4-5]");
}

TEST(HostFolds, SaysHowManyAreLeftOut) {
  std::vector<std::string> names;
  for (int i = 1; i < 2000; i += 2) names.push_back(fmt::format("web{}", i));
  const auto text = FoldAll(names, 50);
  EXPECT_LT(text.size(), 100U);
  EXPECT_THAT(text, testing::EndsWith(" more)"));
  // Only the beginning of a set was handed over.
  const HostFolds folds(TargetsOf({"w1", "w2", "w3"}));
  const std::vector<IntervalSet::Range> first{{0, 2}};
  EXPECT_EQ(folds.Fold(first, 1002, 1000), "w[1-2], … (+1000 more)");
}

RC_GTEST_PROP(HostFolds, ReadsBackAsTheSameSet, ()) {
  const auto first = rc::gen::element('a', 'b', '0', '1', '9');
  const auto rest = rc::gen::container<std::string>(rc::gen::weightedElement<char>(
      {{2, 'a'}, {4, '0'}, {6, '1'}, {4, '2'}, {4, '9'}, {1, '-'}, {1, '.'}}));
  const auto name =
      rc::gen::map(rc::gen::pair(first, rest), [](const std::pair<char, std::string>& parts) {
        return parts.first + parts.second.substr(0, 24);
      });
  const auto drawn = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(name));
  const std::set<std::string> unique(drawn.begin(), drawn.end());
  std::vector<std::string> names(unique.begin(), unique.end());
  std::ranges::sort(names, NaturalLess);
  IntervalSet chosen;
  std::set<std::string> truth;
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    if (i > 0 && *rc::gen::inRange(0, 4) == 0) continue;
    chosen.Insert(i);
    truth.insert(names[i]);
  }
  const HostFolds folds(TargetsOf(names));
  const auto text = folds.Fold(chosen.Ranges(1000), chosen.Count(), 100'000);
  const auto back = ExpandHostRanges(text);
  RC_ASSERT(back.has_value());
  RC_ASSERT(std::set<std::string>(back->begin(), back->end()) == truth);
}

}  // namespace
}  // namespace muster::server
