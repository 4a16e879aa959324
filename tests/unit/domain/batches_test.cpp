#include "domain/batches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace muster {
namespace {

std::vector<std::uint32_t> Sizes(std::string_view text, std::uint32_t hosts) {
  const auto plan = ParseBatchPlan(text);
  EXPECT_TRUE(plan) << text;
  std::vector<std::uint32_t> sizes;
  std::uint32_t done = 0;
  for (std::uint32_t i = 0; done < hosts && i < 1000; ++i) {
    sizes.push_back(std::min(plan->Size(i, hosts), hosts - done));
    done += sizes.back();
  }
  return sizes;
}

TEST(HostShare, TakesNumbersAndPercent) {
  EXPECT_EQ(*ParseHostShare("5"), (HostShare{5, false}));
  EXPECT_EQ(*ParseHostShare(" 10% "), (HostShare{10, true}));
  for (const auto* text : {"", "%", "-1", "101%", "5 hosts", "1.5", "99999999999"}) {
    const auto share = ParseHostShare(text);
    ASSERT_FALSE(share) << text;
    EXPECT_EQ(share.error().code, ErrorCode::kInvalid);
  }
}

TEST(HostShare, PercentRoundsDownToAtLeastTheLeast) {
  EXPECT_EQ((HostShare{10, true}.Of(25, 1)), 2U);
  EXPECT_EQ((HostShare{10, true}.Of(5, 1)), 1U);
  EXPECT_EQ((HostShare{10, true}.Of(5, 0)), 0U);
  EXPECT_EQ((HostShare{100, true}.Of(4'000'000'000U, 1)), 4'000'000'000U);
}

TEST(BatchPlan, RepeatsItsLastSize) {
  EXPECT_THAT(Sizes("1,10%", 30), testing::ElementsAre(1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2));
  EXPECT_THAT(Sizes("1,10%,100%", 30), testing::ElementsAre(1, 3, 26));
  EXPECT_THAT(Sizes("", 30), testing::ElementsAre(30));
}

TEST(BatchPlan, GrowsByNumberOrFactor) {
  EXPECT_THAT(Sizes("20 +10", 100), testing::ElementsAre(20, 30, 40, 10));
  EXPECT_THAT(Sizes("1 *2", 20), testing::ElementsAre(1, 2, 4, 8, 5));
}

TEST(BatchPlan, RefusesWhatNeverEnds) {
  for (const auto* text : {"0", "1,0", "0%", "1 +0", "1 *0", "1 *10%", ",", "1,,2", "+1", "abc"}) {
    const auto plan = ParseBatchPlan(text);
    ASSERT_FALSE(plan) << text;
    EXPECT_EQ(plan.error().code, ErrorCode::kInvalid);
  }
}

RC_GTEST_PROP(BatchPlan, EveryBatchHasAtLeastOneHostAndAtMostAll, ()) {
  BatchPlan plan;
  plan.sizes = *rc::gen::container<std::vector<HostShare>>(
      rc::gen::apply([](std::uint32_t n,
                        bool percent) { return HostShare{percent ? 1 + n % 100 : 1 + n, percent}; },
                     rc::gen::inRange<std::uint32_t>(0, 5000), rc::gen::arbitrary<bool>()));
  if (*rc::gen::arbitrary<bool>()) plan.factor = *rc::gen::inRange<std::uint32_t>(1, 9);
  const auto hosts = *rc::gen::inRange<std::uint32_t>(1, 100'000);
  const auto index = *rc::gen::inRange<std::uint32_t>(0, 10'000);
  const auto size = plan.Size(index, hosts);
  RC_ASSERT(size >= 1U);
  RC_ASSERT(size <= hosts);
  RC_ASSERT(plan.Empty() || *ParseBatchPlan(FormatBatchPlan(plan)) == plan);
}

}  // namespace
}  // namespace muster
