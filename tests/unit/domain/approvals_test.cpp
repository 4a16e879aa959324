#include "domain/approvals.hpp"

#include <gtest/gtest.h>

#include "approval_plans.hpp"

namespace muster {
namespace {

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
  // 50 to the power of 8 ways lead to it, and 50 stages of the top level.
  EXPECT_EQ(ApprovalsIn(*below).size(), 50U);
}

TEST(StagesAfter, AreLaterInTheListOrWhereSwitchesLeadTo) {
  StageSpec work = Work("work");
  work.next["again"] = 0;
  work.next["bad"] = 4;
  StageSpec undo = Work("undo");
  undo.section = Section::kBranch;
  StageSpec last = Work("last");
  last.section = Section::kFinally;
  const RunSpec plan = Plan({Work("a"), Ask("ask"), work, Work("end"), undo, last});
  using Stages = std::vector<std::uint32_t>;
  EXPECT_EQ(StagesAfter(plan, 0), (Stages{0, 1, 2, 3, 4})) << "a loop leads back to itself";
  EXPECT_EQ(StagesAfter(plan, 3), Stages{});
  EXPECT_EQ(StagesAfter(plan, 4), Stages{});
}

TEST(ApprovalsIn, CountsAJobThatTwoStagesStartTwice) {
  RunSpec plan = Plan({Start("gate1", {}), Work("canary"), Start("gate2", {}), Work("deploy")});
  plan.jobs["c"] = std::make_shared<const RunSpec>(Plan({Ask("ask")}));
  EXPECT_EQ(Names(ApprovalsIn(plan)), (List{"gate1 > ask", "gate2 > ask"}));
}

TEST(ApprovalsIn, OfAnInnerStageAreThoseOfTheStageThatHoldsIt) {
  StageSpec roll = When(Work("roll"), "stages.check.status == 'x'");
  roll.action = SequenceAction{};
  StageSpec ask = Ask("ask");
  ask.parent = 1;
  const RunSpec plan = Plan({Work("check"), roll, ask});
  const auto found = ApprovalsIn(plan, 2);
  ASSERT_EQ(Names(found), List{"ask"});
  EXPECT_EQ(found.front().stage, 1U);
}

TEST(ApprovalsIn, OfALargePlanAreFound) {
  constexpr std::uint32_t kMain = 500;
  constexpr std::uint32_t kBranches = 490;
  constexpr std::uint32_t kSwitches = 75;
  RunSpec plan;
  for (std::uint32_t i = 0; i < kMain + kBranches; ++i) {
    StageSpec stage = Work("s" + std::to_string(i));
    if (i >= kMain) stage.section = Section::kBranch;
    stage.between_approve = ApproveAction{.message = "?", .by = {}};
    for (std::uint32_t k = 0; k < kSwitches; ++k)
      stage.next["o" + std::to_string(k)] =
          i < kMain ? kMain + (i * 7 + k) % kBranches : kMain + (i * 11 + k) % kBranches;
    plan.stages.push_back(std::move(stage));
  }
  StageSpec roll = Work("roll");
  roll.section = Section::kFinally;
  roll.action = SequenceAction{};
  plan.stages.push_back(roll);
  for (std::uint32_t i = 0; i < 10; ++i) {
    StageSpec ask = Ask("ask" + std::to_string(i));
    ask.section = Section::kFinally;
    ask.parent = kMain + kBranches;
    plan.stages.push_back(ask);
  }
  EXPECT_EQ(ApprovalsIn(plan).size(), 1'000U);
  EXPECT_EQ(StagesAfter(plan, 0).size(), kMain + kBranches - 1);
  EXPECT_FALSE(AsksInOrder(plan));
}

TEST(ApprovalsIn, HaveAnEndThatNobodyCanApprove) {
  auto below = std::make_shared<RunSpec>();
  for (int i = 0; i < 500; ++i) below->stages.push_back(Ask("ask" + std::to_string(i)));
  RunSpec plan;
  plan.jobs["c"] = below;
  for (int i = 0; i < 500; ++i) plan.stages.push_back(Start("s" + std::to_string(i), {}));
  const auto found = ApprovalsIn(plan);
  EXPECT_EQ(found.size(), 100'000U + 300U) << "one in each stage that was not looked at";
  EXPECT_EQ(found.back().stage, 499U);
  EXPECT_EQ(found.back().wanted->by, List{"(nobody)"});
}

TEST(StagesAfter, AreThoseThatNeedItWhereverTheyStand) {
  const RunSpec plan = Plan({Needs(Work("deploy"), {3}), Work("report"), Needs(Work("prepare"), {}),
                             Needs(Ask("ask"), {2}), Needs(Work("last"), {0})});
  EXPECT_EQ(StagesAfter(plan, 3), (Stages{0, 1, 4})) << "report waits for the one before it";
  EXPECT_EQ(StagesAfter(plan, 2), (Stages{0, 1, 3, 4}));
}

TEST(AsksInOrder, HoldsForAPlainList) {
  StageSpec roll = Work("roll");
  roll.between_approve = ApproveAction{.message = "?", .by = {}};
  StageSpec deploy = Work("deploy");
  deploy.next["failed"] = 4;
  const RunSpec plan = Plan({When(Ask("ask"), "params.env == 'prod'"),
                             When(Work("check"), "stages.ask.state == 'x'"), roll, deploy,
                             Branch(Work("rollback"))});
  EXPECT_TRUE(AsksInOrder(plan));
  EXPECT_TRUE(AsksInOrder(Plan({Work("work")})));
}

TEST(AsksInOrder, FailsWhereAConditionLooksAtTheRun) {
  for (const auto* when :
       {"stages.check.status == 'high'", "run.pass == '1'", "trigger.data.x == '1'", "(("})
    EXPECT_FALSE(AsksInOrder(Plan({Work("check"), When(Ask("ask"), when), Work("go")}))) << when;
  StageSpec roll = When(Work("roll"), "stages.check.status == 'high'");
  roll.between_approve = ApproveAction{.message = "?", .by = {}};
  EXPECT_FALSE(AsksInOrder(Plan({Work("check"), roll})));
}

TEST(AsksInOrder, FailsWhereStagesRunInAnotherOrder) {
  StageSpec jump = Work("jump");
  jump.next["low"] = 2;
  EXPECT_FALSE(AsksInOrder(Plan({jump, Ask("ask"), Work("go")}))) << "over the approval";
  StageSpec loop = Work("loop");
  loop.next["again"] = 0;
  EXPECT_FALSE(AsksInOrder(Plan({Ask("ask"), loop})));
  StageSpec back = Branch(Work("back"));
  back.next["default"] = 1;
  EXPECT_FALSE(AsksInOrder(Plan({Ask("ask"), Work("go"), back}))) << "out of a branch";
  EXPECT_FALSE(AsksInOrder(Plan({Ask("ask"), Needs(Work("go"), {0})})));
}

TEST(AsksInOrder, FailsForApprovalsOutsideTheMainList) {
  EXPECT_FALSE(AsksInOrder(Plan({Work("go"), Branch(Ask("ask"))})));
  StageSpec last = Ask("ask");
  last.section = Section::kFinally;
  EXPECT_FALSE(AsksInOrder(Plan({Work("go"), last})));
  StageSpec roll = Work("roll");
  roll.action = SequenceAction{};
  StageSpec inner = Ask("ask");
  inner.parent = 0;
  EXPECT_FALSE(AsksInOrder(Plan({roll, inner})));
  RunSpec parent = Plan({Start("sub", {})});
  parent.jobs["c"] = std::make_shared<const RunSpec>(Plan({Ask("ask")}));
  EXPECT_FALSE(AsksInOrder(parent));
  parent.stages[0].between_approve = ApproveAction{.message = "?", .by = {}};
  EXPECT_FALSE(AsksInOrder(parent)) << "the job asks too";
}

TEST(AsksInOrder, FailsForBatchesOfHostsThatTheRunChooses) {
  StageSpec roll = Work("roll");
  roll.between_approve = ApproveAction{.message = "?", .by = {}};
  roll.hosts = HostChoice::kAll;
  EXPECT_TRUE(AsksInOrder(Plan({roll})));
  roll.hosts = HostChoice::kFailed;
  EXPECT_FALSE(AsksInOrder(Plan({roll})));
}

// On fewer hosts there are fewer batches, and so it is asked less often, or never.
TEST(AsksInOrder, FailsWhereMoreThanTheHostsThatAreLeftFollowsBatches) {
  StageSpec roll = Work("roll");
  roll.between_approve = ApproveAction{.message = "?", .by = {}};
  StageSpec cutover = Work("cutover");
  StageSpec wait = Work("wait");
  wait.action = WaitAction{.time = std::chrono::seconds(1), .until = {}};
  EXPECT_TRUE(AsksInOrder(Plan({roll, wait, cutover})));
  for (const HostChoice hosts : {HostChoice::kAll, HostChoice::kFailed, HostChoice::kTouched}) {
    cutover.hosts = hosts;
    EXPECT_FALSE(AsksInOrder(Plan({roll, cutover})));
    EXPECT_TRUE(AsksInOrder(Plan({cutover, roll})));
  }
  StageSpec http = Work("http");
  http.action = HttpAction{};
  EXPECT_FALSE(AsksInOrder(Plan({roll, http})));
  StageSpec sequence = Work("sequence");
  sequence.action = SequenceAction{};
  http.parent = 1;
  EXPECT_FALSE(AsksInOrder(Plan({roll, sequence, http})));
  StageSpec branch = Work("branch");
  branch.section = Section::kBranch;
  branch.hosts = HostChoice::kFailed;
  roll.next["failed"] = 1;
  EXPECT_FALSE(AsksInOrder(Plan({roll, branch})));
}

TEST(HoldApprovals, NamesEachStageThatHoldsOne) {
  StageSpec sequence = Work("sequence");
  sequence.action = SequenceAction{};
  StageSpec inner = Ask("inner");
  inner.parent = 1;
  EXPECT_EQ(HoldApprovals(Plan({Work("a"), sequence, inner, Ask("ask"), Work("b")})),
            (std::vector<bool>{false, true, true, true, false}));
}

TEST(AsksAlike, WantsTheSameListUpToTheLastApproval) {
  const RunSpec plan = Plan({Work("a"), Ask("ask"), Work("go")});
  StageSpec other_work = Work("a");
  other_work.concurrency = 3;
  EXPECT_TRUE(AsksAlike(plan, Plan({other_work, Ask("ask"), Work("more")})));
  EXPECT_FALSE(AsksAlike(plan, Plan({Work("a"), Work("go")})));
  EXPECT_FALSE(AsksAlike(plan, Plan({Work("a"), Work("go"), Ask("ask")})));
  EXPECT_FALSE(AsksAlike(plan, Plan({Work("a"), When(Ask("ask"), "false"), Work("go")})));
  EXPECT_FALSE(
      AsksAlike(plan, Plan({Work("a"), When(Ask("ask"), "params.env == 'prod'"), Work("go")})));
  StageSpec weaker = Ask("ask");
  std::get<ApproveAction>(weaker.action).not_starter = false;
  EXPECT_FALSE(AsksAlike(plan, Plan({Work("a"), weaker, Work("go")})));
  for (const bool asks_longer : {true, false}) {
    StageSpec other = Ask("ask");
    if (asks_longer)
      std::get<ApproveAction>(other.action).timeout = std::chrono::seconds(1);
    else
      other.next["failed"] = 2;
    EXPECT_FALSE(AsksAlike(plan, Plan({Work("a"), other, Work("go")})));
  }
  StageSpec jump = Work("a");
  jump.next["succeeded"] = 2;
  EXPECT_FALSE(AsksAlike(plan, Plan({jump, Ask("ask"), Work("go")})));
}

}  // namespace
}  // namespace muster
