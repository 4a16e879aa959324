#include <gtest/gtest.h>

#include "approval_plans.hpp"
#include "domain/approvals.hpp"

namespace muster {
namespace {

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
  RunSpec other_work = Plan({Work("a"), Ask("ask"), When(Work("b"), "false")});
  EXPECT_TRUE(MissingIn(plan, other_work).empty()) << "what stands behind it may differ";
}

TEST(MissingIn, ComparesWhatDecidesWhetherItAsks) {
  StageSpec roll = Work("roll");
  roll.batches = *ParseBatchPlan("1,100%");
  roll.between_approve = ApproveAction{.message = "?", .by = {}};
  const RunSpec plan = Plan({Work("a"), Ask("ask"), Work("go"), roll});
  const auto missing = [&](auto change) {
    RunSpec other = plan;
    change(other);
    return Names(MissingIn(plan, other));
  };
  EXPECT_EQ(missing([](RunSpec& other) { other.stages[1].when = "false"; }), List{"ask"});
  EXPECT_EQ(missing([](RunSpec& other) { other.stages[1].next["failed"] = 2; }),
            (List{"ask", "roll (between batches)"}));
  EXPECT_EQ(missing([](RunSpec& other) {
              std::get<ApproveAction>(other.stages[1].action).timeout = std::chrono::seconds(1);
            }),
            List{"ask"});
  EXPECT_EQ(missing([](RunSpec& other) { other.stages[3].batches = *ParseBatchPlan("100%"); }),
            List{"roll (between batches)"});
  EXPECT_EQ(missing([](RunSpec& other) { other.stages[0].next["succeeded"] = 2; }),
            (List{"ask", "roll (between batches)"}))
      << "an earlier stage jumps over it";
  EXPECT_EQ(missing([](RunSpec& other) { other.stages[2].needs = std::vector<std::uint32_t>{0}; }),
            (List{"ask", "roll (between batches)"}))
      << "another order";
}

TEST(MissingIn, WantsTheSameWorkBeforeAConditionThatLooksAtIt) {
  const RunSpec plan =
      Plan({Work("check"), When(Ask("ask"), "stages.check.status == 'high'"), Work("go")});
  RunSpec other = plan;
  Command command;
  command.script = "echo status=low";
  other.stages[0].action = std::make_shared<const Command>(command);
  EXPECT_EQ(Names(MissingIn(plan, other)), List{"ask"});
  other = plan;
  other.stages[2].action = std::make_shared<const Command>(command);
  EXPECT_TRUE(MissingIn(plan, other).empty());
}

TEST(MissingIn, WantsTheSameParametersForACondition) {
  RunSpec plan = Plan({When(Ask("ask"), "params.env == 'prod'"), Work("go")});
  plan.params = {{.name = "env", .value = "prod"}};
  RunSpec other = plan;
  other.params[0].value = "test";
  EXPECT_EQ(Names(MissingIn(plan, other)), List{"ask"});
  other = plan;
  other.params.push_back({.name = "more", .value = "1"});
  EXPECT_TRUE(MissingIn(plan, other).empty());
}

TEST(MissingIn, WantsTheSameChildJobAndOrderInside) {
  const auto of = [](std::vector<StageSpec> stages) {
    RunSpec plan = Plan({Start("sub", {})});
    plan.jobs["c"] = std::make_shared<const RunSpec>(Plan(std::move(stages)));
    return plan;
  };
  const RunSpec plan = of({Ask("ask"), Work("work")});
  EXPECT_TRUE(MissingIn(plan, of({Ask("ask"), Work("work")})).empty());
  EXPECT_EQ(Names(MissingIn(plan, of({Work("work"), Ask("ask")}))), List{"sub > ask"});
  EXPECT_EQ(Names(MissingIn(plan, of({When(Ask("ask"), "false"), Work("work")}))),
            List{"sub > ask"});
  StageSpec roll = Work("roll");
  roll.action = SequenceAction{};
  StageSpec ask = Ask("ask");
  ask.parent = 0;
  StageSpec work = Work("work");
  work.parent = 0;
  EXPECT_TRUE(MissingIn(Plan({roll, ask, work}), Plan({roll, ask, work})).empty());
  EXPECT_EQ(Names(MissingIn(Plan({roll, ask, work}), Plan({roll, work, ask}))), List{"ask"});
}

TEST(MissingIn, WantsAllStagesOfAGate) {
  StageSpec gate = Work("gate");
  gate.action = SequenceAction{};
  gate.batches = *ParseBatchPlan("1,100%");
  StageSpec ask = Ask("ask");
  StageSpec work = Work("work");
  StageSpec check = Work("check");
  ask.parent = work.parent = check.parent = 1;
  check.section = Section::kBetween;
  const RunSpec plan = Plan({Work("a"), gate, ask, work, check, Work("end")});
  const auto missing = [&](auto change) {
    RunSpec other = plan;
    change(other.stages);
    return Names(MissingIn(plan, other));
  };
  const List lost{"ask"};
  EXPECT_EQ(missing([](auto&) {}), List{});
  Command command;
  command.script = "echo other";
  EXPECT_EQ(
      missing([&](auto& stages) { stages[3].action = std::make_shared<const Command>(command); }),
      List{})
      << "scripts may differ";
  StageSpec before = Work("early");
  before.parent = 1;
  EXPECT_EQ(missing([&](auto& stages) { stages.insert(stages.begin() + 2, before); }), lost);
  EXPECT_EQ(missing([&](auto& stages) { stages.insert(stages.begin() + 3, before); }), lost);
  EXPECT_EQ(missing([&](auto& stages) { stages.erase(stages.begin() + 3); }), lost);
  EXPECT_EQ(missing([](auto& stages) { stages[3].when = "false"; }), lost);
  EXPECT_EQ(missing([](auto& stages) { stages[3].hosts = HostChoice::kAll; }), lost);
  EXPECT_EQ(missing([](auto& stages) { stages[3].action = HttpAction{}; }), lost);
  EXPECT_EQ(missing([](auto& stages) { stages[1].batches = *ParseBatchPlan("100%"); }), lost);
  EXPECT_EQ(missing([](auto& stages) {
              stages[1].between_approve = ApproveAction{.message = "?", .by = {}};
            }),
            lost);
  EXPECT_EQ(missing([](auto& stages) { stages[2].next["failed"] = 3; }), lost);
}

TEST(MissingIn, WantsEachOfTwoGatesOfTheSameJob) {
  RunSpec plan = Plan({Start("gate1", {}), Work("canary"), Start("gate2", {}), Work("deploy")});
  plan.jobs["c"] = std::make_shared<const RunSpec>(Plan({Ask("ask")}));
  RunSpec other = plan;
  other.stages[2] = Work("gate2");
  EXPECT_EQ(Names(MissingIn(plan, other)), List{"gate2 > ask"});
}

TEST(MissingIn, WantsTheSameLinksOfAllStagesInAGraph) {
  const RunSpec plan = Plan({Needs(Work("a"), {}), Needs(Ask("ask"), {0}), Needs(Work("b"), {1})});
  EXPECT_TRUE(MissingIn(plan, plan).empty());
  RunSpec other = plan;
  other.stages[2].needs = Stages{0};
  EXPECT_EQ(Names(MissingIn(plan, other)), List{"ask"}) << "it does not wait for the approval";
  other = plan;
  other.stages.push_back(Needs(Work("c"), {0}));
  EXPECT_EQ(Names(MissingIn(plan, other)), List{"ask"}) << "a stage that does not wait for it";
  const RunSpec list = Plan({Work("a"), Ask("ask"), Work("b")});
  other = list;
  other.stages[2].needs = Stages{0};
  EXPECT_EQ(Names(MissingIn(list, other)), List{"ask"}) << "no graph before";
  other = list;
  other.stages.push_back(Work("c"));
  EXPECT_TRUE(MissingIn(list, other).empty()) << "behind it in a list";
}

TEST(MissingIn, WantsTheSameWayIntoBranches) {
  StageSpec check = Work("check");
  check.next["risky"] = 2;
  StageSpec ask = Branch(Ask("ask"));
  ask.next["succeeded"] = 3;
  const RunSpec plan = Plan({check, Work("end"), ask, Branch(Work("deploy"))});
  EXPECT_TRUE(MissingIn(plan, plan).empty());
  RunSpec other = plan;
  other.stages[0].next["risky"] = 3;
  EXPECT_EQ(Names(MissingIn(plan, other)), List{"ask"}) << "behind the approval";
}

TEST(MissingIn, WantsTheSameWorkOfALoop) {
  StageSpec check = Work("check");
  check.next["again"] = 0;
  const RunSpec plan =
      Plan({When(Ask("ask"), "stages.check.status != 'fine'"), check, Work("end")});
  RunSpec other = plan;
  Command command;
  command.script = "echo status=fine";
  other.stages[1].action = std::make_shared<const Command>(command);
  EXPECT_EQ(Names(MissingIn(plan, other)), List{"ask"});
}

}  // namespace
}  // namespace muster
