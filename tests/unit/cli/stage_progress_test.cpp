#include "cli/runs/stage_progress.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

namespace json = boost::json;

const WallTime kStart = ParseTime("2026-11-15T10:00:00Z");

WallTime After(int seconds) { return kStart + std::chrono::seconds(seconds); }

json::value Summary(const std::string& stages) {
  return json::parse(R"({"created": "2026-11-15T10:00:00Z", "outer": {"total": 3, "ended": 1},
                         "stages": )" +
                     stages + "}");
}

// A stage of three batches of one host, each of which takes so long.
json::value Roll(int batch, const char* more = "") {
  return Summary(fmt::format(R"([{{"name": "roll", "state": "running", "visits": 1, "hosts": 3,
                                   "batch": {}, "batches": 3, "hosts_before": {},
                                   "started": "2026-11-15T10:00:00Z", "counts": {{}}}}{}])",
                             batch, batch - 1, more));
}

TEST(StagesText, NamesStageBatchAndTime) {
  const auto summary = Summary(R"([
      {"name": "check", "state": "succeeded", "hosts": 10, "batch": 0, "counts": {"succeeded": 10}},
      {"name": "roll", "state": "running", "hosts": 10, "batch": 3, "batches": 6, "hosts_before": 4,
       "started": "2026-11-15T10:01:00Z", "counts": {}},
      {"name": "report", "state": "waiting", "hosts": 0, "batch": 0, "counts": {}}])");
  // When the batch began is not known.
  EXPECT_EQ(StagesText(summary, {}, After(180)), "stage 2 of 3: roll, batch 3 of 6 · 3m00s");
}

TEST(StagesText, EstimateOfBatchesDoesNotGrowWhileOneGoesAsThoseBefore) {
  BatchPace pace;
  std::optional<Duration> last;
  for (int second = 0; second < 21; ++second) {
    const auto summary = Roll(1 + second / 7);
    pace.See(summary, After(second));
    const auto left = pace.Left(summary.at("stages").at(0), After(second));
    EXPECT_EQ(left.has_value(), second >= 7) << second;
    if (!left) continue;
    EXPECT_EQ(*left, std::chrono::seconds(21 - second));
    EXPECT_TRUE(!last || *left < *last);
    last = left;
  }
  EXPECT_EQ(StagesText(Roll(3), pace, After(16)),
            "stage 2 of 3: roll, batch 3 of 3 · 16.0 s, about 5.0 s left");
  // One that takes longer than those before it.
  EXPECT_EQ(pace.Left(Roll(3).at("stages").at(0), After(60)), Duration(0));
}

TEST(StagesText, EstimatesNothingBeforeABatchWasSeenToEnd) {
  BatchPace pace;
  pace.See(Roll(2), After(9));
  EXPECT_EQ(StagesText(Roll(2), pace, After(13)), "stage 2 of 3: roll, batch 2 of 3 · 13.0 s");
  pace.See(Roll(3), After(14));
  EXPECT_EQ(StagesText(Roll(3), pace, After(15)), "stage 2 of 3: roll, batch 3 of 3 · 15.0 s");
}

TEST(StagesText, EstimatesNothingThatNobodyKnows) {
  const auto text = [](const char* state, int ended, int seconds) {
    return StagesText(Summary(fmt::format(
                          R"([{{"name": "go", "state": "{}", "hosts": 100, "batch": 0,
                               "started": "2026-11-15T10:00:00Z", "counts": {{"succeeded": {}}}}}])",
                          state, ended)),
                      {}, After(seconds));
  };
  EXPECT_EQ(text("running", 50, 60), "stage 2 of 3: go · 1m00s, about 1m00s left");
  EXPECT_EQ(text("running", 9, 60), "stage 2 of 3: go · 1m00s");
  EXPECT_EQ(text("running", 100, 60), "stage 2 of 3: go · 1m00s");
  EXPECT_EQ(text("running", 50, 2), "stage 2 of 3: go · 2.0 s");
  EXPECT_EQ(text("paused", 50, 60), "stage 2 of 3: go (paused) · 1m00s");
  EXPECT_EQ(text("awaiting_approval", 0, 60), "stage 2 of 3: go (waits for an approval) · 1m00s");
  EXPECT_EQ(text("running", 50, -60), "stage 2 of 3: go · 0.00 s");
  EXPECT_EQ(text("waiting", 0, 60), "");
}

TEST(StagesText, CountsStagesThatNoOtherHolds) {
  const auto summary = Roll(1, R"(, {"name": "verify", "parent": "roll", "state": "running",
      "hosts": 100, "batch": 0, "started": "2026-11-15T10:00:00Z", "counts": {"succeeded": 50}})");
  EXPECT_EQ(StagesText(summary, {}, After(60)),
            "stage 2 of 3: roll, batch 1 of 3 and verify · 1m00s");
  EXPECT_EQ(StagesText(json::value(), {}, kStart), "");
  auto only = Roll(1);
  only.at("outer") = {{"total", 1}, {"ended", 0}};
  EXPECT_EQ(StagesText(only, {}, After(60)), "roll, batch 1 of 3 · 1m00s");
}

TEST(StageCell, StandsBelowWhatHoldsIt) {
  const auto stages = json::parse(R"([{"name": "a"}, {"name": "b", "parent": "a"},
                                      {"name": "c", "parent": "b"}, {"name": "d", "parent": "d"},
                                      {"name": "e", "parent": "gone"}])");
  const auto cell = [&](std::size_t at) { return StageCell(stages.as_array(), stages.at(at)); };
  EXPECT_EQ(cell(0), "a");
  EXPECT_EQ(cell(1), "  b");
  EXPECT_EQ(cell(2), "    c");
  EXPECT_TRUE(cell(3).ends_with("d"));
  EXPECT_EQ(cell(4), "  e");
}

TEST(StageCountsText, SaysOfWhichVisitsTheyAre) {
  const auto text = [](const char* state, int visits, const char* counts) {
    return StageCountsText(json::parse(
        fmt::format(R"({{"state": "{}", "visits": {}, "counts": {}}})", state, visits, counts)));
  };
  EXPECT_EQ(text("failed", 1, R"({"failed": 1})"), "1 failed");
  EXPECT_EQ(text("succeeded", 2, R"({"failed": 1, "succeeded": 1})"),
            "2 visits: 1 failed, 1 succeeded");
  EXPECT_EQ(text("skipped", 1, R"({"failed": 1})"), "earlier: 1 failed");
  EXPECT_EQ(text("skipped", 0, "{}"), "");
}

TEST(JobBar, IsNoWiderThanTheTerminal) {
  TaskCounts counts;
  counts[TaskState::kSucceeded] = 3;
  counts[TaskState::kFailed] = 1;
  EXPECT_EQ(JobBar(counts, 16, "stage 2 of 3: roll", 200),
            "[#####---------------] 4 of 16 · stage 2 of 3: roll · 1 failed, 3 succeeded");
  EXPECT_EQ(JobBar(counts, 16, "stage 2 of 3: roll", 34), "[#####---------------] 4 of 16 · s");
}

}  // namespace
}  // namespace muster::cli
