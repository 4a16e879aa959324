#include "domain/run_row.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace muster {
namespace {

TEST(RowParams, ShortValuesAreWhole) {
  const std::vector<Param> params{{"version", "6.1", false}, {"token", "deploy", true}};
  EXPECT_EQ(RowParamsOf(params), params);
  for (const auto& param : RowParamsOf(params)) EXPECT_FALSE(IsCut(param));
}

TEST(RowParams, LongValuesAreCutBetweenCharactersAndSaySo) {
  for (std::size_t shift = 0; shift < 4; ++shift) {
    std::string text(shift, 'a');
    while (text.size() < 1000) text += "ä€😀";
    const auto row = RowParamsOf({{"note", text, false}});
    ASSERT_EQ(row.size(), 1U);
    EXPECT_LE(row.front().value.size(), kMostRowParam);
    EXPECT_TRUE(IsUtf8(row.front().value));
    EXPECT_TRUE(IsCut(row.front()));
    EXPECT_EQ(RowParamsOf(row), row);
  }
  const Param longest{"note", std::string(kMostRowParam, 'x'), false};
  EXPECT_EQ(RowParamsOf({longest}).front(), longest);
  EXPECT_FALSE(IsCut(longest));
}

TEST(RowParams, ManyTakeNoMoreThanTheirShareOfTheRow) {
  std::vector<Param> params;
  for (int i = 0; i < 500; ++i) params.push_back({"p" + std::to_string(i), std::string(200, 'v')});
  const auto row = RowParamsOf(params);
  ASSERT_FALSE(row.empty());
  std::size_t bytes = 0;
  for (const auto& param : row) bytes += param.name.size() + param.value.size();
  EXPECT_LE(bytes, kMostRowParams);
  EXPECT_LT(row.size(), params.size());
}

TEST(RunRow, PlanKeepsItsWholeParameters) {
  RunSpec plan;
  plan.params = {{"note", std::string(1000, 'x'), false}};
  const RunSpec row = RowSpecOf(plan);
  const RunSpec whole = JoinPlan(row, plan);
  EXPECT_EQ(whole.params, plan.params);
}

}  // namespace
}  // namespace muster
