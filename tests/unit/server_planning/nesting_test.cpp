#include "server/planning/nesting.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::server {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using Kind = NestingProblem::Kind;
using Names = std::vector<std::string>;

class Nesting : public ::testing::Test {
 protected:
  std::vector<NestingProblem> Check(const Names& names, std::size_t deepest) {
    auto found = CheckNesting(names, deepest, [this](const std::string& name) -> Result<Names> {
      ++asked_;
      return below_[name];
    });
    EXPECT_TRUE(found);
    return std::move(*found);
  }

  std::map<std::string, Names> below_;
  std::size_t asked_ = 0;
};

TEST_F(Nesting, EachDocumentIsVisitedOnce) {
  Names names;
  for (int level = 0; level < 30; ++level)
    for (const char* side : {"a", "b"}) {
      names.push_back(side + std::to_string(level));
      below_[names.back()] = {"a" + std::to_string(level + 1), "b" + std::to_string(level + 1)};
    }
  EXPECT_THAT(Check(names, 30), SizeIs(0));
  EXPECT_EQ(asked_, 62U);
}

TEST_F(Nesting, TheLongestWayCounts) {
  below_ = {{"a", {"d", "b"}}, {"b", {"c"}}, {"c", {"d"}}, {"d", {}}};
  EXPECT_THAT(Check({"a"}, 3), SizeIs(0));
  const auto found = Check({"d", "c", "a"}, 2);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].kind, Kind::kTooDeep);
  EXPECT_THAT(found[0].way, ElementsAre("a", "b", "c", "d"));
}

TEST_F(Nesting, CirclesBeginWithTheNameThatWasGivenFirst) {
  below_ = {{"a", {"b"}}, {"b", {"c"}}, {"c", {"b", "d"}}, {"d", {"d"}}};
  const auto found = Check({"a", "c"}, 9);
  ASSERT_THAT(found, SizeIs(1)) << "that of d has none of the names in it";
  EXPECT_EQ(found[0].kind, Kind::kCircle);
  EXPECT_THAT(found[0].way, ElementsAre("c", "b"));
}

TEST_F(Nesting, AFewProblemsAreEnough) {
  Names names;
  for (int i = 0; i < 20'000; ++i) {
    names.push_back(std::to_string(i));
    below_[names.back()] = {"0", std::to_string(i + 1)};
  }
  EXPECT_LE(Check(names, 8).size(), 20U);
}

TEST_F(Nesting, LongWaysAreCut) {
  EXPECT_EQ(WayText(Names{"a", "b"}, "@"), "@a -> @b");
  EXPECT_LT(WayText(Names(10'000, "name")).size(), 200U);
}

}  // namespace
}  // namespace muster::server
