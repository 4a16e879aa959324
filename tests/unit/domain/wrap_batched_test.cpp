#include "domain/wrap_batched.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

StageSpec Script(std::string name) {
  StageSpec stage;
  stage.name = std::move(name);
  Command command;
  command.script = "true";
  stage.action = std::make_shared<const Command>(std::move(command));
  return stage;
}

BatchPlan OneByOne() { return *ParseBatchPlan("1"); }

TEST(WrapBatched, StageWithAWaitBecomesASequenceOfOne) {
  RunSpec spec;
  spec.stages = {Script("before"), Script("roll"), Script("after")};
  StageSpec& roll = spec.stages[1];
  roll.batches = OneByOne();
  roll.between_wait = std::chrono::minutes(5);
  roll.max_failures = {2, true};
  roll.on_limit = OnLimit::kPause;
  roll.next = {{"failed", 2}};
  roll.hosts = HostChoice::kTouched;
  roll.needs = std::vector<std::uint32_t>{0};
  roll.when = "params.go";
  roll.retries = {.max = 3};
  roll.concurrency = 7;
  roll.limits = {{.key = "host/${{ host.name }}", .max = 1}};
  const StageSpec before = roll;
  const Action action = roll.action;

  WrapBatched(spec);

  ASSERT_EQ(spec.stages.size(), 4U);
  const StageSpec& outer = spec.stages[1];
  EXPECT_TRUE(std::holds_alternative<SequenceAction>(outer.action));
  EXPECT_EQ(outer.name, "roll");
  EXPECT_EQ(outer.batches, before.batches);
  EXPECT_EQ(outer.between_wait, before.between_wait);
  EXPECT_EQ(outer.max_failures, before.max_failures);
  EXPECT_EQ(outer.on_limit, OnLimit::kPause);
  EXPECT_EQ(outer.next, before.next);
  EXPECT_EQ(outer.hosts, HostChoice::kTouched);
  EXPECT_EQ(outer.needs, before.needs);
  EXPECT_EQ(outer.when, "params.go");
  EXPECT_EQ(outer.concurrency, 0U);
  const StageSpec& inner = spec.stages[3];
  EXPECT_EQ(inner.parent, 1U);
  EXPECT_EQ(inner.action, action);
  EXPECT_EQ(inner.retries.max, 3U);
  EXPECT_EQ(inner.concurrency, 7U);
  EXPECT_EQ(inner.limits, before.limits);
  EXPECT_TRUE(inner.batches.Empty());
  EXPECT_EQ(inner.hosts, HostChoice::kOk);
  EXPECT_FALSE(inner.needs);
  EXPECT_EQ(inner.when, "");
  EXPECT_TRUE(inner.next.empty());
}

TEST(WrapBatched, CheckStaysTheStagesOwn) {
  RunSpec spec;
  spec.stages = {Script("roll"), Script("roll-check")};
  spec.stages[0].batches = OneByOne();
  spec.stages[1].section = Section::kBetween;
  spec.stages[1].parent = 0;
  WrapBatched(spec);
  ASSERT_EQ(spec.stages.size(), 3U);
  EXPECT_EQ(spec.stages[1].parent, 0U);
  EXPECT_EQ(spec.stages[1].section, Section::kBetween);
  EXPECT_EQ(spec.stages[2].parent, 0U);
  EXPECT_EQ(spec.stages[2].section, Section::kMain);
}

TEST(WrapBatched, BatchedJobIsOneChildForEachBatch) {
  RunSpec spec;
  spec.stages = {Script("roll")};
  spec.stages[0].action = JobAction{.job = "other", .params = {}};
  spec.stages[0].batches = OneByOne();
  WrapBatched(spec);
  ASSERT_EQ(spec.stages.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<JobAction>(spec.stages[1].action));
}

TEST(WrapBatched, InnerStageIsWrappedWhereItStands) {
  RunSpec spec;
  spec.stages = {Script("roll"), Script("drain")};
  spec.stages[0].action = SequenceAction{};
  spec.stages[1].parent = 0;
  spec.stages[1].batches = OneByOne();
  spec.stages[1].between_approve = ApproveAction{};
  WrapBatched(spec);
  ASSERT_EQ(spec.stages.size(), 3U);
  EXPECT_EQ(spec.stages[1].parent, 0U);
  EXPECT_EQ(spec.stages[2].parent, 1U);
}

TEST(WrapBatched, OthersAreLeftAlone) {
  RunSpec spec;
  spec.stages = {Script("plain"), Script("batched"), Script("sequence"), Script("job")};
  spec.stages[1].batches = OneByOne();
  spec.stages[2].action = SequenceAction{};
  spec.stages[2].batches = OneByOne();
  spec.stages[2].between_wait = std::chrono::seconds(1);
  spec.stages[3].action = JobAction{.job = "other", .params = {}};
  const auto before = spec.stages;
  WrapBatched(spec);
  EXPECT_EQ(spec.stages, before);
}

TEST(WrapBatched, TwiceIsOnce) {
  RunSpec spec;
  spec.stages = {Script("roll")};
  spec.stages[0].batches = OneByOne();
  spec.stages[0].between_wait = std::chrono::seconds(1);
  WrapBatched(spec);
  const auto once = spec.stages;
  WrapBatched(spec);
  EXPECT_EQ(spec.stages, once);
}

TEST(StagesAsWritten, ShowTheWrappedStageOnceInItsPlace) {
  muster::Run run;
  RunSpec& spec = run.spec;
  spec.stages = {Script("upgrade"), Script("check"), Script("tidy")};
  spec.stages[0].batches = OneByOne();
  spec.stages[1].section = Section::kBetween;
  spec.stages[1].parent = 0;
  spec.stages[2].section = Section::kFinally;
  WrapBatched(spec);
  ASSERT_EQ(spec.stages.size(), 4U);
  const auto places = [](const std::vector<WrittenStage>& stages) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> list;
    for (const auto& stage : stages) list.emplace_back(stage.stage, stage.work);
    return list;
  };
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> wanted{{0, 3}, {1, 1}, {2, 2}};
  EXPECT_EQ(places(StagesAsWritten(spec)), wanted);
  EXPECT_EQ(NamesOfStages(spec), "upgrade, check, tidy");
  for (const auto& stage : spec.stages) run.stages.push_back({.name = stage.name});
  EXPECT_EQ(places(StagesAsWritten(run)), wanted);
  spec.stages.clear();  // as in a row
  EXPECT_EQ(places(StagesAsWritten(run)), wanted);
}

}  // namespace
}  // namespace muster
