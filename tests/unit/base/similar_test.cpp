#include "base/similar.hpp"

#include <algorithm>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace muster {
namespace {

std::string BestOf(std::string_view typed, std::initializer_list<std::string_view> names) {
  NearestName nearest(typed);
  for (const auto name : names) nearest.Offer(name);
  return nearest.Best();
}

// The same by the whole table, without a bound.
std::size_t AllSlips(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t k = 0; k <= b.size(); ++k) {
      if (i == 0 || k == 0) {
        table[i][k] = i + k;
        continue;
      }
      table[i][k] = std::min({table[i - 1][k] + 1, table[i][k - 1] + 1,
                              table[i - 1][k - 1] + (a[i - 1] == b[k - 1] ? 0 : 1)});
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
        table[i][k] = std::min(table[i][k], table[i - 2][k - 2] + 1);
    }
  }
  return table.back().back();
}

std::string RandomWord(std::mt19937& random) {
  std::string word(random() % 10, 'a');
  for (auto& c : word) c = static_cast<char>('a' + random() % 3);
  return word;
}

TEST(Slips, AreThoseOfTheWholeTableUpToTheBound) {
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const auto a = RandomWord(random);
    const auto b = RandomWord(random);
    const std::size_t most = random() % 6;
    ASSERT_EQ(Slips(a, b, most), std::min(AllSlips(a, b), most + 1))
        << a << " " << b << " " << most;
  }
}

TEST(Slips, LongWordsAreFar) {
  EXPECT_EQ(Slips(std::string(65, 'a'), std::string(65, 'a'), 2), 3U);
  EXPECT_EQ(Slips(std::string(64, 'a'), std::string(64, 'a'), 2), 0U);
}

TEST(NearestName, OneSlipCaseAndDomainAreNear) {
  EXPECT_EQ(BestOf("wbe7", {"db1", "web7", "web70"}), "web7");
  EXPECT_EQ(BestOf("Web7", {"web7"}), "web7");
  EXPECT_EQ(BestOf("web7", {"web7.example.com"}), "web7.example.com");
  EXPECT_EQ(BestOf("web7.example.com", {"web7"}), "web7");
  EXPECT_EQ(BestOf("nightly", {"weekly", "nightly-backup"}), "nightly-backup");
}

TEST(NearestName, NeighboursByNumberAreNotMeant) {
  EXPECT_EQ(BestOf("web7", {"web1", "web8", "web17"}), "");
  EXPECT_EQ(BestOf("web7", {"web8", "web07"}), "web07");
}

TEST(NearestName, NothingIsNearToShortAndVeryLongWords) {
  EXPECT_EQ(BestOf("a", {"b", "c"}), "");
  EXPECT_EQ(BestOf("", {"b"}), "");
  EXPECT_EQ(BestOf(std::string(100, 'x'), {std::string(100, 'y')}), "");
}

}  // namespace
}  // namespace muster
