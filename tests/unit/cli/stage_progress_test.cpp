#include "cli/stage_progress.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

namespace json = boost::json;

const WallTime kStart = ParseTime("2026-11-15T10:00:00Z");

json::value Summary(const std::string& stages) {
  return json::parse(
      R"({"created": "2026-11-15T10:00:00Z", "stages_total": 3, "stages_left_out": {},
      "stages": )" +
      stages + "}");
}

TEST(StagesText, NamesStageBatchTimeAndEstimate) {
  const auto summary = Summary(R"([
      {"name": "check", "state": "succeeded", "hosts": 10, "batch": 0, "counts": {"succeeded": 10}},
      {"name": "roll", "state": "running", "hosts": 10, "batch": 3, "batches": 6, "hosts_before": 4,
       "started": "2026-11-15T10:01:00Z", "counts": {}},
      {"name": "report", "state": "waiting", "hosts": 0, "batch": 0, "counts": {}}])");
  // 4 of 10 hosts took 2 minutes.
  EXPECT_EQ(StagesText(summary, kStart + std::chrono::minutes(3)),
            "stage 2 of 3: roll, batch 3 of 6 · 3m00s, about 3m00s left");
}

TEST(StagesText, EstimatesNothingThatNobodyKnows) {
  const auto text = [](const char* state, int ended, int seconds) {
    return StagesText(Summary(fmt::format(
                          R"([{{"name": "go", "state": "{}", "hosts": 100, "batch": 0,
                               "started": "2026-11-15T10:00:00Z", "counts": {{"succeeded": {}}}}}])",
                          state, ended)),
                      kStart + std::chrono::seconds(seconds));
  };
  EXPECT_EQ(text("running", 50, 60), "stage 1 of 3: go · 1m00s, about 1m00s left");
  EXPECT_EQ(text("running", 2, 60), "stage 1 of 3: go · 1m00s");
  EXPECT_EQ(text("running", 100, 60), "stage 1 of 3: go · 1m00s");
  EXPECT_EQ(text("running", 50, 2), "stage 1 of 3: go · 2.0 s");
  EXPECT_EQ(text("paused", 50, 60), "stage 1 of 3: go (paused) · 1m00s");
  EXPECT_EQ(text("awaiting_approval", 0, 60), "stage 1 of 3: go (waits for an approval) · 1m00s");
  EXPECT_EQ(text("running", 50, -60), "stage 1 of 3: go · 0.00 s");
  EXPECT_EQ(text("waiting", 0, 60), "");
}

TEST(StagesText, NamesEachStageOnceAndCountsThoseThatWereLeftOut) {
  auto summary = Summary(R"([
      {"name": "roll", "state": "running", "hosts": 1, "batch": 1, "counts": {}},
      {"name": "roll", "state": "running", "hosts": 1, "batch": 0, "counts": {}},
      {"name": "a", "state": "running", "hosts": 1, "batch": 0, "counts": {}}])");
  summary.as_object()["stages_total"] = 40;
  summary.as_object()["stages_left_out"] = {{"succeeded", 20}, {"waiting", 17}};
  EXPECT_EQ(StagesText(summary, kStart), "stage 21 of 40: roll, batch 1 and a · 0.00 s");
  EXPECT_EQ(StagesText(json::value(), kStart), "");
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
