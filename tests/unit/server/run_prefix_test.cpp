#include "server/api/run_prefix.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace muster::server::api {
namespace {

bool Has(std::string_view prefix, std::string_view name) {
  const auto id = ParseRunId(name);
  EXPECT_TRUE(id) << name;
  return id && std::ranges::any_of(RunIdsBeginning(prefix), [&](const RunIdRange& range) {
           return !(*id < range.first) && !(range.last < *id);
         });
}

TEST(RunPrefix, HasEachIdThatBeginsSoAndNoOther) {
  for (const std::string_view prefix :
       {"", "r", "r2", "r20", "r1.", "r1.7", "r12", "r65535", "r7.1"})
    for (const std::string_view name :
         {"r1",     "r2",   "r3",    "r7",   "r20",   "r29",    "r30",      "r120",
          "r200",   "r299", "r2999", "r1.1", "r1.7",  "r1.70",  "r1.79",    "r1.8",
          "r1.700", "r2.5", "r20.1", "r7.1", "r7.12", "r65535", "r65535.4", "r281474976710655"})
      EXPECT_EQ(Has(prefix, name), name.starts_with(prefix)) << prefix << " of " << name;
}

TEST(RunPrefix, IsOfFewRangesTheNewestFirst) {
  for (const std::string_view prefix : {"r", "r1", "r1.1", "r9"}) {
    const auto ranges = RunIdsBeginning(prefix);
    EXPECT_LE(ranges.size(), 25U);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      EXPECT_LE(ranges[i].first, ranges[i].last);
      if (i > 0) EXPECT_LT(ranges[i].last, ranges[i - 1].first) << prefix;
    }
  }
}

TEST(RunPrefix, OfNoRunIsEmpty) {
  for (const std::string_view prefix : {"x", "r0", "r01", "r.", "r0.1", "r1.0", "r1.2.3", "r-1",
                                        "ra", "r70000.1", "r99999999999999999999999"})
    EXPECT_TRUE(RunIdsBeginning(prefix).empty()) << prefix;
}

}  // namespace
}  // namespace muster::server::api
