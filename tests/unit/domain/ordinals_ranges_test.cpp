#include <gtest/gtest.h>

#include "domain/ordinals.hpp"

namespace muster {
namespace {

TEST(OrdinalsOfRanges, IsTheSetThatHadThem) {
  const Ordinals set = Ordinals::Of({0, 1, 2, 7, 9, 10});
  EXPECT_EQ(Ordinals::OfRanges(set.Ranges()), set);
  EXPECT_EQ(Ordinals::OfRanges({}), Ordinals());
  EXPECT_EQ(Ordinals::OfRanges({{0, ~0U}})->Count(), ~0U);
}

TEST(OrdinalsOfRanges, RefusesWhatNoSetHas) {
  using Ranges = std::vector<Ordinals::Range>;
  for (const Ranges& wrong : {Ranges{{3, 3}}, Ranges{{4, 3}}, Ranges{{0, 2}, {2, 4}},
                              Ranges{{0, 5}, {3, 8}}, Ranges{{6, 8}, {1, 2}}}) {
    const auto set = Ordinals::OfRanges(wrong);
    ASSERT_FALSE(set);
    EXPECT_EQ(set.error().code, ErrorCode::kInvalid);
  }
}

}  // namespace
}  // namespace muster
