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
  EXPECT_EQ(Names(LeftOutBySkipping(plan, 0)), (List{"ask", "late"}));
  EXPECT_EQ(Names(LeftOutBySkipping(plan, 1)), List{"late"});
  EXPECT_EQ(Names(LeftOutBySkipping(plan, 4)), List{"late"});
}

TEST(LeftOutBySkipping, LooksBehindTheConditionsOfConditions) {
  // ask depends on b, and what b does may depend on a.
  const RunSpec plan = Plan({Work("first"), Work("a"), When(Work("b"), "stages.a.status == 'x'"),
                             When(Ask("ask"), "stages.b.state == 'succeeded'"), Work("go")});
  EXPECT_EQ(Names(LeftOutBySkipping(plan, 0)), List{"ask"});
  EXPECT_EQ(Names(LeftOutBySkipping(plan, 1)), List{"ask"});
  EXPECT_EQ(Names(LeftOutBySkipping(plan, 2)), List{"ask"});
  EXPECT_EQ(Names(LeftOutBySkipping(plan, 4)), List{}) << "it stands behind the approval";
}

TEST(LeftOutBySkipping, ConditionsOnWhatIsFixedAtTheStartDependOnNoStage) {
  const std::string fixed = "params.env == 'prod' and run.by != 'x' and targets.count != '1'";
  const RunSpec plan = Plan({Work("a"), When(Ask("ask"), fixed), Work("go")});
  EXPECT_EQ(Names(LeftOutBySkipping(plan, 0)), List{});
  EXPECT_TRUE(ApprovalsIn(plan).front().asked_if.Always());
}

TEST(LeftOutBySkipping, FollowsParametersIntoChildren) {
  RunSpec child = Plan({When(Ask("ask"), "params.risk == 'high'"), Work("work")});
  const auto with = [&](std::string risk) {
    RunSpec plan = Plan({Work("check"), Start("sub", {{"risk", std::move(risk)}})});
    plan.jobs["c"] = std::make_shared<const RunSpec>(child);
    return plan;
  };
  EXPECT_EQ(Names(LeftOutBySkipping(with("${{ stages.check.status }}"), 0)), List{"sub > ask"});
  EXPECT_EQ(Names(LeftOutBySkipping(with("high"), 0)), List{});
  EXPECT_EQ(Names(LeftOutBySkipping(with("${{ params.risk }}"), 0)), List{});
  child.stages[0].when = "stages.work.state == 'waiting'";
  EXPECT_EQ(Names(LeftOutBySkipping(with("high"), 0)), List{"sub > ask"}) << "its own course";
  child.stages[0].when = "targets.count != '1'";
  EXPECT_EQ(Names(LeftOutBySkipping(with("high"), 0)), List{"sub > ask"}) << "its hosts";
}

TEST(LeftOutBySkipping, SeesWhatJumpsOverAnApproval) {
  const auto with = [](std::string outcome) {
    StageSpec check = Work("check");
    check.next[outcome] = 3;
    return Plan({Work("prepare"), check, Ask("ask"), Work("go")});
  };
  EXPECT_EQ(Names(LeftOutBySkipping(with("low"), 0)), List{"ask"});
  EXPECT_EQ(Names(LeftOutBySkipping(with("low"), 1)), List{"ask"});
  EXPECT_EQ(Names(LeftOutBySkipping(with("failed"), 0)), List{"ask"}) << "to the work itself";
  RunSpec recovering = with("failed");
  recovering.stages[1].next["failed"] = 4;
  StageSpec undo = Work("undo");
  undo.section = Section::kBranch;
  recovering.stages.push_back(undo);
  EXPECT_EQ(Names(LeftOutBySkipping(recovering, 0)), List{}) << "a branch for failures only";
}

TEST(LeftOutBySkipping, CountsABranchThatLeadsBackIntoTheMainList) {
  StageSpec check = Work("check");
  check.next["risky"] = 3;
  StageSpec ask = Ask("ask");
  ask.section = Section::kBranch;
  RunSpec plan = Plan({Work("prepare"), check, Work("go"), ask});
  EXPECT_EQ(Names(LeftOutBySkipping(plan, 0)), List{}) << "it guards what stands behind it alone";
  plan.stages[3].next["succeeded"] = 2;
  EXPECT_EQ(Names(LeftOutBySkipping(plan, 0)), List{"ask"});
  EXPECT_EQ(Names(LeftOutBySkipping(plan, 2)), List{});
}

TEST(LeftOutBySkipping, CountsHostsThatAreLeftForAStage) {
  StageSpec gate = Work("gate");
  gate.action = SequenceAction{};
  gate.hosts = HostChoice::kTouched;
  StageSpec ask = Ask("ask");
  ask.parent = 1;
  RunSpec plan = Plan({Work("prepare"), gate, ask, Work("go")});
  EXPECT_EQ(Names(LeftOutBySkipping(plan, 0)), List{"ask"}) << "nobody would be touched";
  plan.stages[1].hosts = HostChoice::kAll;
  EXPECT_EQ(Names(LeftOutBySkipping(plan, 0)), List{});
}

TEST(ApprovalsIn, TellWhetherALaterPassMightNotAsk) {
  const RunSpec plan = Plan({When(Ask("ask"), "run.pass == '1'"), Work("go")});
  EXPECT_TRUE(ApprovalsIn(plan).front().asked_if.pass);
  const RunSpec unreadable = Plan({When(Ask("ask"), "(("), Work("go")});
  EXPECT_TRUE(ApprovalsIn(unreadable).front().asked_if.pass);
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

TEST(StagesBefore, AreEarlierNeededOrBranchesOfThose) {
  RunSpec plan;
  StageSpec first = Work("first");
  first.next["x"] = 3;
  StageSpec second = Work("second");
  second.needs = std::vector<std::uint32_t>{4};
  StageSpec branch = Work("branch");
  branch.section = Section::kBranch;
  StageSpec fourth = Work("fourth");
  fourth.needs.emplace();
  plan.stages = {first, second, Work("third"), branch, fourth};
  EXPECT_EQ(StagesBefore(plan, 0), (std::vector<std::uint32_t>{}));
  EXPECT_EQ(StagesBefore(plan, 1), (std::vector<std::uint32_t>{0, 3, 4}));
  EXPECT_EQ(StagesBefore(plan, 2), (std::vector<std::uint32_t>{0, 1, 3, 4}));
}

TEST(ApprovalsIn, CountsAJobThatTwoStagesStartTwice) {
  RunSpec plan = Plan({Start("gate1", {}), Work("canary"), Start("gate2", {}), Work("deploy")});
  plan.jobs["c"] = std::make_shared<const RunSpec>(Plan({Ask("ask")}));
  EXPECT_EQ(Names(ApprovalsIn(plan)), (List{"gate1 > ask", "gate2 > ask"}));
  plan.stages[2].when = "stages.canary.status == 'odd'";
  EXPECT_EQ(Names(LeftOutBySkipping(plan, 1)), List{"gate2 > ask"});
  EXPECT_EQ(Names(LeftOutBySkipping(plan, 2)), List{"gate2 > ask"});
}

TEST(ApprovalsIn, CountsAJobForEachConditionInOneStage) {
  StageSpec roll = Work("roll");
  roll.action = SequenceAction{};
  StageSpec by_param = Start("a", {{"risk", "${{ stages.check.status }}"}});
  StageSpec by_when = When(Start("b", {}), "stages.check.status == 'odd'");
  by_param.parent = by_when.parent = 1;
  RunSpec plan = Plan({Work("check"), roll, by_param, by_when, Work("go")});
  plan.jobs["c"] = std::make_shared<const RunSpec>(Plan({Ask("ask")}));
  EXPECT_EQ(Names(ApprovalsIn(plan)), (List{"a > ask", "b > ask"}));
  EXPECT_EQ(Names(LeftOutBySkipping(plan, 0)), List{"b > ask"});
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
  EXPECT_EQ(found.front().asked_if, ApprovalsIn(plan).front().asked_if);
  EXPECT_EQ(Names(LeftOutBySkipping(plan, 2)), List{"ask"}) << "it is one approval";
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
  EXPECT_EQ(DependingOn(plan, 0).size(), kMain - 1) << "each stage leads aside";
  EXPECT_EQ(LeftOutBySkipping(plan, 0).size(), kMain + kBranches);
  EXPECT_EQ(StagesAfter(plan, 0).size(), kMain + kBranches - 1);
  EXPECT_EQ(StagesBefore(plan, kMain - 1).size(), kMain + kBranches - 1);
  EXPECT_TRUE(MissingIn(plan, plan).empty());
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
  EXPECT_FALSE(found.back().asked_if.Always());
}

TEST(LeftOutBySkipping, CountsHostsThatAreLeftBeforeWorkForOthers) {
  StageSpec gate = Work("gate");
  gate.action = SequenceAction{};
  StageSpec ask = Ask("ask");
  ask.parent = 1;
  const auto with = [&](StageSpec last) {
    return Names(LeftOutBySkipping(Plan({Work("prepare"), gate, ask, std::move(last)}), 0));
  };
  StageSpec deploy = Work("deploy");
  EXPECT_EQ(with(deploy), List{}) << "without hosts, it is not done either";
  for (const auto hosts : {HostChoice::kAll, HostChoice::kFailed, HostChoice::kTouched}) {
    deploy.hosts = hosts;
    EXPECT_EQ(with(deploy), List{"ask"}) << Name(hosts);
  }
  deploy.section = Section::kFinally;
  EXPECT_EQ(with(deploy), List{"ask"});
  StageSpec request = Work("request");
  request.action = HttpAction{};
  EXPECT_EQ(with(request), List{"ask"}) << "it needs no hosts";
  request.section = Section::kFinally;
  EXPECT_EQ(with(request), List{});
}

TEST(LeftOutBySkipping, CountsHostsThatAreLeftInAChildJob) {
  StageSpec gate = Work("gate");
  gate.between_approve = ApproveAction{.message = "?", .by = {}};
  StageSpec deploy = Work("deploy");
  RunSpec plan = Plan({Work("prepare"), Start("sub", {}), deploy});
  plan.jobs["c"] = std::make_shared<const RunSpec>(Plan({Work("first"), gate}));
  EXPECT_EQ(Names(LeftOutBySkipping(plan, 0)), List{});
  plan.stages[2].hosts = HostChoice::kAll;
  EXPECT_EQ(Names(LeftOutBySkipping(plan, 0)), List{"sub > gate (between batches)"});
}

TEST(DependingOn, KnowsTheLastStageThatJumpsOverAnApproval) {
  StageSpec far = Work("far");
  far.next["x"] = 5;
  StageSpec near = Work("near");
  near.next["x"] = 3;
  const RunSpec plan = Plan({far, near, Ask("one"), Ask("two"), Work("middle"), Work("end")});
  EXPECT_EQ(Names(DependingOn(plan, 0)), (List{"one", "two"}));
  EXPECT_EQ(Names(DependingOn(plan, 1)), List{"one"});
}

TEST(ApprovalsIn, InALoopThroughBranchesDependOnAnyStage) {
  StageSpec check = Work("check");
  check.next["again"] = 3;
  StageSpec one = Branch(Work("one"));
  one.next["succeeded"] = 4;
  StageSpec two = Branch(Work("two"));
  two.next["succeeded"] = 2;
  const auto asked_if = [&] {
    return ApprovalsIn(
               Plan({When(Ask("ask"), "stages.check.status == 'x'"), check, Work("go"), one, two}))
        .front()
        .asked_if.stage;
  };
  EXPECT_EQ(asked_if(), 1U);
  two.next["failed"] = 1;
  EXPECT_EQ(asked_if(), AskedIf::kAnyStage);
}

TEST(StagesAfter, AreThoseThatNeedItWhereverTheyStand) {
  const RunSpec plan = Plan({Needs(Work("deploy"), {3}), Work("report"), Needs(Work("prepare"), {}),
                             Needs(Ask("ask"), {2}), Needs(Work("last"), {0})});
  EXPECT_EQ(StagesAfter(plan, 3), (Stages{0, 1, 4})) << "report waits for the one before it";
  EXPECT_EQ(StagesAfter(plan, 2), (Stages{0, 1, 3, 4}));
}

TEST(StagesBefore, AreAlsoThoseBeforeOneThatIsNeeded) {
  const RunSpec plan = Plan({Needs(Work("deploy"), {2}), Needs(Ask("ask"), {}), Work("ready")});
  EXPECT_EQ(StagesBefore(plan, 0), (Stages{1, 2})) << "ready waits for the one before it";
}

}  // namespace
}  // namespace muster
