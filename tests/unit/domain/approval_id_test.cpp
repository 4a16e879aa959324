#include "domain/approval_id.hpp"

#include <array>
#include <functional>
#include <utility>

#include <gtest/gtest.h>

namespace muster {
namespace {

Run Sample(std::uint64_t number) {
  Run run;
  run.id = MakeRunId(1, number);
  run.spec.stages.resize(2);
  return run;
}

TEST(ApprovalId, ChangesWithTheRunsAboveIt) {
  const muster::Run run = Sample(3);
  StageVisit visit;
  visit.visit = Visit(7);
  const auto under = [&](const muster::Run& parent, const muster::Run& grandparent) {
    const std::array above{&parent, &grandparent};
    return ApprovalId(run, visit, above);
  };
  const muster::Run parent = Sample(2);
  const muster::Run grandparent = Sample(1);
  const std::string before = under(parent, grandparent);
  EXPECT_EQ(under(parent, grandparent), before);
  EXPECT_NE(ApprovalId(run, visit), before);
  EXPECT_NE(under(grandparent, parent), before);
  for (const auto& change : std::vector<std::function<void(muster::Run&)>>{
           [](muster::Run& changed) { changed.id = MakeRunId(1, 9); },
           [](muster::Run& changed) { changed.spec.stages[0].when = "false"; },
           [](muster::Run& changed) {
             changed.overrides.push_back({.stage = 1, .concurrency = 2, .max_failures = {}});
           },
           [](muster::Run& changed) { changed.skips.push_back(0); }}) {
    muster::Run changed = parent;
    change(changed);
    EXPECT_NE(under(changed, grandparent), before);
    changed = grandparent;
    change(changed);
    EXPECT_NE(under(parent, changed), before);
  }
}

TEST(ApprovalId, WithoutRunsAboveIsAsItWas) {
  StageVisit visit;
  visit.visit = Visit(7);
  visit.message = "go?";
  EXPECT_EQ(ApprovalId(Sample(3), visit), "7-1-a34c765800a0");
}

TEST(ApprovalIds, HashesThePlansOnceForAllVisits) {
  muster::Run run = Sample(3);
  muster::Run parent = Sample(2);
  const std::array above{&std::as_const(parent)};
  StageVisit first;
  first.visit = Visit(7);
  StageVisit second;
  second.visit = Visit(8);
  const std::string expected = ApprovalId(run, second, above);
  ApprovalIds ids(run, above);
  EXPECT_EQ(ids.Of(first), ApprovalId(run, first, above));
  // A plan that is hashed again would be seen to have changed.
  run.spec.stages[0].when = "false";
  parent.spec.stages[0].when = "false";
  EXPECT_EQ(ids.Of(second), expected);
}

TEST(ApprovalIds, OneOfAnotherVisitOrBatchIsToldApartWithoutThePlan) {
  muster::Run run = Sample(3);
  StageVisit visit;
  visit.visit = Visit(7);
  ApprovalIds ids(run);
  for (const auto* other : {"", "x", "7", "7-1", "7-2-000000000000", "17-1-000000000000"})
    EXPECT_FALSE(ids.Is(visit, other)) << other;
  // Nothing was hashed so far: the plan as it is now counts.
  run.spec.stages[0].when = "false";
  EXPECT_TRUE(ids.Is(visit, ApprovalId(run, visit)));
  EXPECT_FALSE(ids.Is(visit, "7-1-000000000000"));
}

}  // namespace
}  // namespace muster
