#include "cli/runs/trace_text.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

namespace json = boost::json;
using testing::ElementsAre;

constexpr std::int64_t kSecond = 1'000'000'000;

struct Line {
  std::string id;
  std::string parent;
  std::string name;
  std::int64_t from = 0;  // seconds
  std::int64_t to = 0;    // 0: goes on
  std::map<std::string, std::string> about = {};
};

json::value TraceOf(const std::vector<Line>& lines) {
  json::array spans;
  for (const auto& line : lines) {
    json::array attributes;
    for (const auto& [key, value] : line.about)
      attributes.push_back({{"key", key}, {"value", {{"stringValue", value}}}});
    json::object span{{"traceId", "4bf92f3577b34da6a3ce929d0e0e4736"},
                      {"spanId", line.id},
                      {"parentSpanId", line.parent},
                      {"name", line.name},
                      {"startTimeUnixNano", std::to_string(line.from * kSecond)},
                      {"attributes", std::move(attributes)}};
    if (line.to != 0) span["endTimeUnixNano"] = std::to_string(line.to * kSecond);
    spans.push_back(std::move(span));
  }
  json::array scopes{json::object{{"spans", std::move(spans)}}};
  json::array resources{json::object{{"scopeSpans", std::move(scopes)}}};
  return json::object{{"resourceSpans", std::move(resources)}};
}

Line Task(const std::string& id, std::int64_t from, std::int64_t to,
          const std::string& state = "succeeded") {
  return {.id = id,
          .parent = "s",
          .name = "web" + id,
          .from = from,
          .to = to,
          .about = {{"muster.attempt", "1"}, {"muster.state", state}}};
}

std::vector<std::string> What(const TraceRows& trace) {
  std::vector<std::string> what;
  for (const auto& row : trace.rows) what.push_back(row.what);
  return what;
}

const Line kRun{.id = "r",
                .parent = "of the caller",
                .name = "roll",
                .from = 100,
                .to = 110,
                .about = {{"muster.run", "r7"}, {"muster.pass", "1"}, {"muster.state", "failed"}}};
const Line kStage{.id = "s", .parent = "r", .name = "canary", .from = 101, .to = 109};

TEST(TraceText, IsATreeInTheOrderOfTime) {
  const auto trace =
      RowsOfTrace(TraceOf({kRun, kStage, Task("2", 105, 106), Task("1", 102, 103)}), 5, {200'000});
  EXPECT_EQ(trace.id, "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_THAT(What(trace), ElementsAre("r7 roll", "  canary", "    web1", "    web2"));
  EXPECT_EQ(trace.whole, std::chrono::seconds(10));
  EXPECT_EQ(trace.rows[0].state, "failed");
  EXPECT_EQ(trace.rows[1].began, std::chrono::seconds(1));
  EXPECT_EQ(trace.rows[1].took, std::chrono::seconds(8));
}

TEST(TraceText, OfManyTasksThoseThatMatter) {
  const auto trace = RowsOfTrace(TraceOf({kRun, kStage, Task("1", 102, 103), Task("2", 102, 108),
                                          Task("3", 102, 103, "failed"), Task("4", 102, 104)}),
                                 2, {200'000});
  EXPECT_THAT(What(trace),
              ElementsAre("r7 roll", "  canary", "    web3", "    web2", "    … 2 more"));
  EXPECT_FALSE(trace.rows.back().counts);
}

TEST(TraceText, TellsHowManyTasksHaveNoSpan) {
  Line run = kRun;
  run.about["muster.tasks_without_span"] = "49500";
  EXPECT_EQ(RowsOfTrace(TraceOf({run, kStage}), 5, {200'000}).without, 49'500U);
  EXPECT_EQ(RowsOfTrace(TraceOf({kRun, kStage}), 5, {200'000}).without, 0U);
}

TEST(TraceText, SaysWhatIsNotOrdinary) {
  Line run = kRun;
  run.about["muster.pass"] = "2";
  Line stage = kStage;
  stage.about["muster.child"] = "r8";
  Line task = Task("1", 102, 103, "failed");
  task.about["muster.attempt"] = "3";
  task.about["process.exit.code"] = "4";
  const auto trace = RowsOfTrace(TraceOf({run, stage, task}), 5, {200'000});
  EXPECT_THAT(What(trace),
              ElementsAre("r7 roll (pass 2)", "  canary (is r8)", "    web1 (attempt 3)"));
  EXPECT_EQ(trace.rows[2].state, "failed (exit 4)");
}

TEST(TraceText, WhatGoesOnLastsUntilNow) {
  Line run = kRun;
  run.to = 0;
  const auto trace = RowsOfTrace(TraceOf({run, kStage}), 5, {130'000});
  EXPECT_EQ(trace.rows[0].took, std::chrono::seconds(30));
  EXPECT_FALSE(trace.rows[0].ended);
  EXPECT_EQ(trace.whole, std::chrono::seconds(30));
}

TEST(TraceText, AnAnswerInCirclesEnds) {
  Line one = kStage;
  one.parent = "t";
  Line two = kStage;
  two.id = "t";
  two.parent = "s";
  EXPECT_TRUE(RowsOfTrace(TraceOf({one, two}), 5, {130'000}).rows.empty());
  EXPECT_TRUE(RowsOfTrace(json::parse("[1]"), 5, {130'000}).rows.empty());
}

TEST(TraceText, BarsLieWhereTheTimeWas) {
  const auto bar = [](std::int64_t began, std::int64_t took, bool ended = true) {
    return TraceBar(
        {.what = "", .state = "", .began = Duration(began), .took = Duration(took), .ended = ended},
        Duration(100), 10);
  };
  EXPECT_EQ(bar(0, 100), "##########");
  EXPECT_EQ(bar(50, 25), "     ##");
  EXPECT_EQ(bar(100, 0), "         #");
  EXPECT_EQ(bar(99, 1), "         #");
  EXPECT_EQ(bar(90, 1000), "         #");
  EXPECT_EQ(bar(20, 80, false), "  >>>>>>>>");
  EXPECT_EQ(TraceBar({.what = "… 2 more", .state = "", .counts = false}, Duration(100), 10), "");
  EXPECT_EQ(TraceBar({.what = "", .state = "", .ended = true}, Duration(0), 10), "#");
}

}  // namespace
}  // namespace muster::cli
