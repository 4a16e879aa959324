#include "server/traces/trace.hpp"

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/server_traces/recorded_runs.hpp"

namespace muster::server {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

class TraceTest : public testing::Test, protected RecordedRuns {
 protected:
  Trace Read(const muster::Run& run, const TraceScope& scope = {}) {
    auto trace = ReadTrace(store, run.id, scope);
    EXPECT_TRUE(trace) << trace.error().message;
    return trace ? std::move(*trace) : Trace();
  }
  static const Span& Find(const Trace& trace, const std::string& name) {
    for (const auto& span : trace.spans)
      if (span.name == name) return span;
    ADD_FAILURE() << "no span " << name;
    return trace.spans.front();
  }
  static std::vector<std::string> Names(const Trace& trace) {
    std::vector<std::string> names;
    for (const auto& span : trace.spans) names.push_back(span.name);
    return names;
  }
  static std::string About(const Span& span, const std::string& key) {
    for (const auto& [name, value] : span.attributes)
      if (name == key)
        return std::holds_alternative<std::string>(value)
                   ? std::get<std::string>(value)
                   : std::to_string(std::get<std::int64_t>(value));
    return "none";
  }
};

TEST_F(TraceTest, IsATreeOfPassStagesAndTasks) {
  const muster::Run run = MakeRun(7, 2);
  StageVisit inner = MakeVisit(2, "inner");
  inner.parent = Visit(1);
  TaskRecord failed = MakeTask(run, 2, 1, milliseconds(300), TaskState::kFailed);
  failed.end = TaskEnd{.state = TaskState::kFailed, .exit_code = 3, .reason = "no luck"};
  failed.end->started = {5};
  failed.end->ended = {255};
  Put(run, {MakeVisit(1, "outer"), inner}, {MakeTask(run, 2, 0, milliseconds(200)), failed});

  const Trace trace = Read(run);
  EXPECT_EQ(trace.id.size(), 32U);
  ASSERT_THAT(Names(trace), ElementsAre("uptime", "outer", "inner", "web1", "web2"));
  EXPECT_EQ(trace.spans[0].parent, "");
  EXPECT_EQ(trace.spans[1].parent, trace.spans[0].id);
  EXPECT_EQ(trace.spans[2].parent, trace.spans[1].id);
  EXPECT_EQ(trace.spans[3].parent, trace.spans[2].id);
  EXPECT_EQ(trace.spans[0].start, run.created);
  EXPECT_EQ(trace.spans[0].end, run.ended);
  EXPECT_EQ(About(trace.spans[0], "muster.run"), "r7");
  EXPECT_EQ(About(trace.spans[0], "muster.by"), "ann");
  EXPECT_EQ(About(trace.spans[0], "muster.tasks_without_span"), "none");
  EXPECT_FALSE(trace.spans[3].failed);
  EXPECT_TRUE(trace.spans[4].failed);
  EXPECT_EQ(trace.spans[4].message, "no luck");
  EXPECT_EQ(About(trace.spans[4], "process.exit.code"), "3");
  EXPECT_EQ(About(trace.spans[4], "muster.process.ms"), "250");
  std::set<std::string> ids;
  for (const auto& span : trace.spans) {
    EXPECT_EQ(span.id.size(), 16U);
    ids.insert(span.id);
  }
  EXPECT_EQ(ids.size(), trace.spans.size());
}

TEST_F(TraceTest, IsTheSameWhoeverReadsIt) {
  const muster::Run run = MakeRun(7, 1);
  RecordedRuns other;
  for (RecordedRuns* runs : {static_cast<RecordedRuns*>(this), &other})
    runs->Put(run, {MakeVisit(1, "s")}, {MakeTask(run, 1, 0, milliseconds(1))});
  const Trace here = Read(run);
  const auto there = ReadTrace(other.store, run.id, {});
  EXPECT_EQ(here.id, there->id);
  for (std::size_t i = 0; i < here.spans.size(); ++i)
    EXPECT_EQ(here.spans[i].id, there->spans[i].id) << i;
}

TEST_F(TraceTest, RunsOfOneNumberMadeElsewhereHaveOtherIds) {
  muster::Run run = MakeRun(7, 1);
  Put(run, {}, {});
  const Trace before = Read(run);
  run.created.ms += 1;
  Put(run, {}, {});
  EXPECT_NE(Read(run).id, before.id);
  EXPECT_NE(Read(run).spans[0].id, before.spans[0].id);
}

TEST_F(TraceTest, OfManyTasksThoseStayThatFailedOrTookLongest) {
  const muster::Run run = MakeRun(7, 3000);
  std::vector<TaskRecord> tasks;
  for (std::uint32_t i = 0; i < run.hosts; ++i)
    tasks.push_back(MakeTask(run, 1, i, milliseconds(100 + i % 50)));
  tasks[2500].ended = tasks[2500].sent + milliseconds(9000);
  tasks[10].state = TaskState::kTimedOut;
  tasks[20].state = TaskState::kUnreachable;
  tasks[20].sent = {};
  Put(run, {MakeVisit(1, "s")}, tasks);
  const Trace trace = Read(run, {.tasks = 3});
  EXPECT_THAT(Names(trace), ElementsAre("uptime", "s", "web11", "web21", "web2501"));
  EXPECT_EQ(About(trace.spans[0], "muster.tasks_without_span"), "2997");
  EXPECT_EQ(Find(trace, "web21").start, Find(trace, "web21").end);
  EXPECT_THAT(Names(Read(run, {.tasks = 0})), ElementsAre("uptime", "s"));
}

TEST_F(TraceTest, WhatGoesOnHasNoEnd) {
  muster::Run run = MakeRun(7, 1);
  run.state = RunState::kRunning;
  run.ended = {};
  StageVisit visit = MakeVisit(1, "s");
  visit.state = StageState::kRunning;
  visit.ended = {};
  TaskRecord task = MakeTask(run, 1, 0, {}, TaskState::kSent);
  task.ended = {};
  Put(run, {visit}, {task});
  for (const auto& span : Read(run).spans) {
    EXPECT_FALSE(span.end) << span.name;
    EXPECT_FALSE(span.failed) << span.name;
  }
}

TEST_F(TraceTest, EachPassIsASpan) {
  muster::Run run = MakeRun(7, 1);
  run.pass = 2;
  StageVisit first = MakeVisit(1, "s");
  first.state = StageState::kFailed;
  first.ended = {1'002'000};
  StageVisit second = MakeVisit(2, "s");
  second.pass = 2;
  second.started = {1'005'000};
  Put(run, {first, second},
      {MakeTask(run, 1, 0, milliseconds(1), TaskState::kFailed),
       MakeTask(run, 2, 0, milliseconds(1))});
  const Trace whole = Read(run);
  ASSERT_EQ(whole.spans.size(), 6U);
  EXPECT_EQ(About(whole.spans[0], "muster.state"), "failed");
  EXPECT_EQ(whole.spans[0].end, first.ended);
  EXPECT_EQ(About(whole.spans[1], "muster.state"), "succeeded");
  EXPECT_EQ(whole.spans[1].start, second.started);
  EXPECT_EQ(whole.spans[2].parent, whole.spans[0].id);
  EXPECT_EQ(whole.spans[3].parent, whole.spans[1].id);

  const Trace last = Read(run, {.pass = 2});
  ASSERT_EQ(last.spans.size(), 3U);
  EXPECT_EQ(last.spans[0].id, whole.spans[1].id);
  EXPECT_EQ(last.spans[2].id, whole.spans[5].id);
}

TEST_F(TraceTest, StandsUnderItsCaller) {
  muster::Run run = MakeRun(7, 1);
  run.trace_parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
  Put(run, {}, {});
  const Trace trace = Read(run);
  EXPECT_EQ(trace.id, "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(trace.spans[0].parent, "00f067aa0ba902b7");
  EXPECT_FALSE(trace.sampled);
}

TEST_F(TraceTest, AChildStandsUnderTheStageThatStartedIt) {
  muster::Run grandparent = MakeRun(7, 1);
  grandparent.trace_parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  muster::Run parent = MakeRun(8, 1);
  parent.parent = grandparent.id;
  parent.parent_visit = Visit(3);
  muster::Run child = MakeRun(9, 1);
  child.parent = parent.id;
  child.parent_visit = Visit(1);
  Put(grandparent, {MakeVisit(3, "starts r8")}, {});
  Put(parent, {MakeVisit(1, "starts r9")}, {});
  Put(child, {}, {});
  EXPECT_EQ(Read(child).id, "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(Read(child).spans[0].parent, Find(Read(parent), "starts r9").id);
  EXPECT_EQ(Read(parent).spans[0].parent, Find(Read(grandparent), "starts r8").id);
}

TEST_F(TraceTest, AChildOutlivesItsParent) {
  muster::Run child = MakeRun(9, 1);
  child.parent = MakeRunId(0, 8);
  child.parent_visit = Visit(1);
  Put(child, {}, {});
  EXPECT_EQ(Read(child).spans[0].parent, "");
}

TEST_F(TraceTest, ATaskOfTheServerTellsItsPlace) {
  const muster::Run run = MakeRun(7, 1);
  TaskRecord task = MakeTask(run, 1, 0, milliseconds(1));
  task.key.host = HostId();
  Put(run, {MakeVisit(1, "s")}, {task});
  const Trace trace = Read(run);
  const auto place = PlaceOf(store, task.key);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->trace, trace.id);
  EXPECT_EQ(place->span, Find(trace, "server").id);
}

TEST_F(TraceTest, OfAnUnknownRunThereIsNone) {
  EXPECT_EQ(ReadTrace(store, MakeRunId(0, 99), {}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(PlaceOf(store, {.run = MakeRunId(0, 99)}).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace muster::server
