#include "domain/approvals.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

StageSpec Work(std::string name) {
  StageSpec stage;
  stage.name = std::move(name);
  return stage;
}

StageSpec Ask(std::string name) {
  StageSpec stage = Work(std::move(name));
  stage.action = ApproveAction{.message = "?", .by = {}, .not_starter = true};
  return stage;
}

std::vector<std::string> Names(const PlanApprovals& approvals) {
  std::vector<std::string> names;
  for (const auto& approval : approvals) names.push_back(approval.name);
  return names;
}
using List = std::vector<std::string>;

TEST(ApprovalsIn, FindsInnerOnesThoseBetweenBatchesAndThoseOfChildren) {
  RunSpec grandchild;
  grandchild.stages = {Ask("deep")};
  RunSpec child;
  child.jobs["g"] = std::make_shared<const RunSpec>(grandchild);
  StageSpec start = Work("below");
  start.action = JobAction{.job = "g", .params = {}};
  child.stages = {Ask("ask"), start};
  RunSpec plan;
  plan.jobs["c"] = std::make_shared<const RunSpec>(child);
  StageSpec roll = Work("roll");
  roll.action = SequenceAction{};
  roll.between_approve = ApproveAction{.message = "?", .by = {}};
  StageSpec inner = Ask("inner");
  inner.parent = 0;
  StageSpec sub = Work("sub");
  sub.action = JobAction{.job = "c", .params = {}};
  plan.stages = {roll, inner, sub, Work("end")};
  EXPECT_EQ(Names(ApprovalsIn(plan, 0)), (List{"roll (between batches)", "inner"}));
  EXPECT_EQ(Names(ApprovalsIn(plan, 2)), (List{"sub > ask", "sub > below > deep"}));
  EXPECT_EQ(Names(ApprovalsIn(plan, 3)), List{});
  EXPECT_EQ(ApprovalsIn(plan).size(), 4U);
}

TEST(ApprovalsIn, CostsNoMoreThanThereAreJobs) {
  auto below = std::make_shared<RunSpec>();
  below->stages = {Ask("ask")};
  for (int depth = 0; depth < 8; ++depth) {
    auto above = std::make_shared<RunSpec>();
    above->jobs["j"] = below;
    for (int i = 0; i < 50; ++i) {
      StageSpec stage = Work("s" + std::to_string(i));
      stage.action = JobAction{.job = "j", .params = {}};
      above->stages.push_back(stage);
    }
    below = above;
  }
  EXPECT_EQ(ApprovalsIn(*below).size(), 1U);  // 50 to the power of 8 ways lead to it
}

TEST(LeftOutBySkipping, FollowsSwitchesAndConditions) {
  RunSpec plan;
  StageSpec check = Work("check");
  check.next["risky"] = 2;
  StageSpec branch = Work("branch");
  branch.section = Section::kBranch;
  branch.next["default"] = 3;
  StageSpec ask = Ask("ask");
  ask.section = Section::kBranch;
  ask.next["failed"] = 2;  // a circle
  StageSpec late = Ask("late");
  late.when = "stages.other.status == 'x'";
  plan.stages = {check, Work("other"), branch, ask, late};
  EXPECT_EQ(Names(LeftOutBySkipping(plan, 0)), List{"ask"});
  EXPECT_EQ(Names(LeftOutBySkipping(plan, 1)), List{"late"});
  EXPECT_EQ(Names(LeftOutBySkipping(plan, 4)), List{"late"});
}

TEST(StagesBefore, AreEarlierNeededOrBranchesOfThose) {
  RunSpec plan;
  StageSpec first = Work("first");
  first.next["x"] = 3;
  StageSpec second = Work("second");
  second.needs = std::vector<std::uint32_t>{4};
  StageSpec branch = Work("branch");
  branch.section = Section::kBranch;
  plan.stages = {first, second, Work("third"), branch, Work("fourth")};
  EXPECT_EQ(StagesBefore(plan, 0), (std::vector<std::uint32_t>{}));
  EXPECT_EQ(StagesBefore(plan, 1), (std::vector<std::uint32_t>{0, 3, 4}));
  EXPECT_EQ(StagesBefore(plan, 2), (std::vector<std::uint32_t>{0, 1, 3, 4}));
}

TEST(MissingIn, IsWhatIsNotAskedAtTheSamePlaceByTheSameRule) {
  RunSpec plan;
  plan.stages = {Work("a"), Ask("ask"), Work("b")};
  EXPECT_TRUE(MissingIn(plan, plan).empty());
  RunSpec later;
  later.stages = {Work("a"), Work("b"), Ask("ask")};
  EXPECT_EQ(Names(MissingIn(plan, later)), List{"ask"});
  RunSpec weaker = plan;
  std::get<ApproveAction>(weaker.stages[1].action).not_starter = false;
  EXPECT_EQ(Names(MissingIn(plan, weaker)), List{"ask"});
  RunSpec other_words = plan;
  std::get<ApproveAction>(other_words.stages[1].action).message = "really?";
  EXPECT_TRUE(MissingIn(plan, other_words).empty());
}

}  // namespace
}  // namespace muster
