#include "server/api/run_summary.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "base/text.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

Run RunOf(std::size_t stages) {
  Run run;
  run.id = RunId(7);
  run.state = RunState::kRunning;
  run.hosts = 10;
  for (std::size_t i = 0; i < stages; ++i) {
    StageProgress stage{.name = fmt::format("stage-{}", i), .state = StageState::kSucceeded};
    stage.counts[TaskState::kSucceeded] = 9;
    stage.counts[TaskState::kFailed] = 1;
    run.stages.push_back(stage);
  }
  return run;
}

TEST(RunSummary, CountsTheTasksOfAllStages) {
  const auto view = SummaryView(RunOf(5), std::nullopt, 2, CommitNumber(9));
  EXPECT_EQ(view.at("tasks"), (json::object{{"succeeded", 45}, {"failed", 5}}));
  EXPECT_EQ(view.at("stages").as_array().size(), 5U);
  EXPECT_EQ(view.at("stages_total"), 5);
  EXPECT_TRUE(view.at("stages_left_out").as_object().empty());
  EXPECT_EQ(view.at("logs_open"), 2);
}

TEST(RunSummary, AddsWhatIsUnderWay) {
  auto run = RunOf(2);
  LiveView::RunView live;
  live.state = RunState::kRunning;
  TaskCounts open;
  open[TaskState::kRunning] = 4;
  live.stages = {{1, open}};
  const auto view = SummaryView(run, live, 0, {});
  EXPECT_EQ(view.at("stages").at(1).at("counts").at("running"), 4);
  EXPECT_EQ(view.at("tasks").at("running"), 4);
}

TEST(RunSummary, StaysSmallAndNamesWhatTellsMost) {
  auto run = RunOf(5000);
  // Each byte of it takes six in JSON.
  run.spec.title = run.spec.targets = run.reason = std::string(100'000, '\1');
  run.stages[4000].state = StageState::kFailed;
  run.stages[4500].state = StageState::kRunning;
  for (auto& stage : run.stages) stage.reason = std::string(1000, 'x');
  const auto view = SummaryView(run, std::nullopt, 0, {});
  EXPECT_LT(json::serialize(view).size(), 20'000U);
  const auto& stages = view.at("stages").as_array();
  ASSERT_GT(stages.size(), 5U);
  EXPECT_EQ(stages.at(stages.size() - 2).at("name"), "stage-4000");
  EXPECT_EQ(stages.back().at("name"), "stage-4500");
  EXPECT_EQ(view.at("stages_total"), 5000);
  EXPECT_EQ(view.at("stages_left_out").at("succeeded").to_number<std::size_t>(),
            5000 - stages.size());
}

TEST(RunSummary, HasAStageWithBetweenOnceAndCountsThoseThatNoOtherHolds) {
  auto run = RunOf(0);
  run.spec.stages = {StageSpec{.name = "upgrade", .action = SequenceAction{}},
                     StageSpec{.name = "check", .section = Section::kBetween, .parent = 0U},
                     StageSpec{.name = "tidy", .section = Section::kFinally},
                     StageSpec{.name = "upgrade", .parent = 0U}};
  for (const auto& stage : run.spec.stages) run.stages.push_back({.name = stage.name});
  run.stages[0].state = run.stages[3].state = StageState::kSucceeded;
  run.stages[3].counts[TaskState::kSucceeded] = 3;
  const auto view = SummaryView(run, std::nullopt, 0, {});
  const auto& stages = view.at("stages").as_array();
  ASSERT_EQ(stages.size(), 3U);
  EXPECT_EQ(stages.at(0).at("name"), "upgrade");
  EXPECT_EQ(stages.at(0).at("counts").at("succeeded"), 3);
  EXPECT_EQ(stages.at(1).at("parent"), "upgrade");
  EXPECT_EQ(stages.at(2).at("name"), "tidy");
  EXPECT_EQ(view.at("stages_total"), 3);
  EXPECT_EQ(view.at("outer"), (json::object{{"total", 2}, {"ended", 1}}));
}

TEST(RunSummary, CutsBetweenCharacters) {
  EXPECT_EQ(Clipped("abc", 3), "abc");
  EXPECT_EQ(Clipped("abcd", 3), "…");
  EXPECT_EQ(Clipped("aääb", 5), "a…");
}

}  // namespace
}  // namespace muster::server::api
