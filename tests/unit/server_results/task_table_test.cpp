#include "server/results/task_table.hpp"

#include <gtest/gtest.h>

#include "unit/server_results/results_fixture.hpp"

namespace muster::server {
namespace {

// Of a run with one visit to its last stage.
TaskTable TableOfRun(std::uint32_t hosts) {
  auto table = TaskTable::OfRun(hosts);
  table.Enter(VisitTo("two", 1, Ordinals::All(hosts)));
  return table;
}

TEST(TaskTable, BeginsWithEveryHostWaiting) {
  const auto table = TaskTable::OfRun(3);
  EXPECT_EQ(table.States(), std::string(3, '\0'));
  EXPECT_EQ(table.Open()[0].Count(), 3U);
  EXPECT_TRUE(table.Exact().empty());
}

TEST(TaskTable, FoldsEqualOutcomes) {
  auto table = TableOfRun(3);
  table.Take(Ended(KeyOf(1, 0), TaskState::kSucceeded, 0, 'a'));
  table.Take(Ended(KeyOf(1, 2), TaskState::kSucceeded, 0, 'a'));
  table.Take(Ended(KeyOf(1, 1), TaskState::kFailed, 3, 'a'));
  ASSERT_EQ(table.Exact().size(), 2U);
  EXPECT_EQ(table.Exact().begin()->second.hosts.Count(), 2U);
}

TEST(TaskTable, MaskedOutputJoinsWhatDiffersByHostOnly) {
  auto table = TableOfRun(3);
  table.Take(Ended(KeyOf(1, 0), TaskState::kSucceeded, 0, 'a', 'm'));
  table.Take(Ended(KeyOf(1, 1), TaskState::kSucceeded, 0, 'b', 'm'));
  table.Take(Ended(KeyOf(1, 2), TaskState::kSucceeded, 0, 'c'));  // a node that masks nothing
  EXPECT_EQ(table.Exact().size(), 3U);
  EXPECT_EQ(table.MaskedGroups().size(), 2U);
}

TEST(TaskTable, LaterWordWinsInWhateverOrderTheyCome) {
  auto table = TableOfRun(1);
  table.Take(Ended(KeyOf(1, 0), TaskState::kFailed, 1, 'a'));
  table.Take(KeyOf(1, 0), TaskState::kRunning);
  table.Take(Sent(KeyOf(1, 0)));
  table.Take(Ended(KeyOf(1, 0), TaskState::kFailed, 1));
  EXPECT_TRUE(table.Exact().begin()->first.stdout_sha256.known);
  table.Take(Sent(KeyOf(1, 0, 2)));
  EXPECT_EQ(table.At(0).state, TaskState::kSent);
  table.Take(Ended(KeyOf(1, 0, 2), TaskState::kSucceeded));
  table.Enter(VisitTo("one", 2, Ordinals::All(1)));
  table.Take(KeyOf(2, 0, 0), TaskState::kQueued);
  EXPECT_EQ(table.At(0).state, TaskState::kQueued);
}

TEST(TaskTable, WhatWasQueuedInAVisitThatEndedNeverWas) {
  auto table = TableOfRun(2);
  table.Take(Ended(KeyOf(1, 0), TaskState::kFailed));
  StageVisit visit = VisitTo("one", 2, Ordinals::All(2));
  table.Enter(visit);
  table.Take(KeyOf(2, 0, 0), TaskState::kQueued);
  table.Take(KeyOf(2, 1, 0), TaskState::kQueued);
  visit.state = StageState::kSkipped;
  table.Enter(visit);
  table.Take(KeyOf(2, 1, 0), TaskState::kQueued);  // told late
  EXPECT_EQ(table.At(0).state, TaskState::kFailed);
  EXPECT_EQ(table.At(1).state, TaskState::kWaiting);
}

TEST(TaskTable, WorstTaskOfAHostDecides) {
  auto table = TaskTable::OfRun(3);
  table.Enter(VisitOnTheWay("one", 1, Ordinals::All(3)));
  table.Enter(VisitTo("two", 2, Ordinals::All(3)));
  table.Take(Ended(KeyOf(1, 0), TaskState::kFailed, 7));
  table.Take(Ended(KeyOf(1, 1), TaskState::kLost));
  for (std::uint32_t i = 0; i < 3; ++i) table.Take(Ended(KeyOf(2, i), TaskState::kSucceeded));
  EXPECT_EQ(table.States(), (std::string{'\x05', '\x08', '\x04'}));
  EXPECT_EQ(table.At(0).visit, Visit(1));
  EXPECT_EQ(table.Exact().size(), 3U);
  table.Enter(VisitOnTheWay("one", 3, Ordinals::All(1)));  // a loop: it goes well this time
  table.Take(Ended(KeyOf(3, 0), TaskState::kSucceeded));
  EXPECT_EQ(table.At(0).state, TaskState::kWaiting);  // the last stage is before it again
  table.SetEnded(true);
  EXPECT_EQ(table.At(0).state, TaskState::kSucceeded);
}

TEST(TaskTable, HostsWaitBetweenStagesUntilTheRunEnds) {
  auto table = TaskTable::OfRun(2);
  table.Enter(VisitOnTheWay("one", 1, Ordinals::All(2)));
  for (std::uint32_t i = 0; i < 2; ++i) table.Take(Ended(KeyOf(1, i), TaskState::kSucceeded));
  EXPECT_EQ(table.States(), std::string(2, '\0'));
  EXPECT_EQ(table.Exact().begin()->second.hosts.Count(), 0U);
  table.SetEnded(true);
  EXPECT_EQ(table.States(), std::string(2, '\x04'));
  table.SetEnded(false);  // a retry
  EXPECT_EQ(table.States(), std::string(2, '\0'));
}

TEST(TaskTable, HostsOfARunThatAStageStartedAreHowTheyCameOutOfIt) {
  auto table = TaskTable::OfRun(3);
  StageVisit visit = VisitTo("two", 1, Ordinals::All(3));
  visit.child = RunId(2);
  visit.state = StageState::kFailed;
  visit.results = {{TaskState::kSucceeded, Ordinals::Of({0, 2})},
                   {TaskState::kFailed, Ordinals::Of({1})}};
  table.Enter(visit);
  table.Enter(visit);
  EXPECT_EQ(table.States(), (std::string{'\x04', '\x05', '\x04'}));
  EXPECT_EQ(table.Exact().size(), 2U);
}

TEST(TaskTable, AttemptThatCameTooLateLeavesItsTaskQueued) {
  auto table = TableOfRun(1);
  table.Take(Ended(KeyOf(1, 0), TaskState::kUnreachable));
  EXPECT_EQ(table.At(0).state, TaskState::kQueued);
  TaskRecord never = Ended(KeyOf(1, 0, 2), TaskState::kUnreachable);
  never.sent = {};
  table.Take(never);
  EXPECT_EQ(table.At(0).state, TaskState::kUnreachable);
}

TEST(TaskTable, OfAStageHasOnlyItsHostsAndVisits) {
  auto table = TaskTable::OfStage(4);
  table.Enter(VisitTo("one", 1, Ordinals::Of({1, 2})));
  table.Take(Ended(KeyOf(1, 1), TaskState::kSucceeded));
  table.Take(Ended(KeyOf(2, 2), TaskState::kFailed));  // of another stage
  table.Take(Ended(KeyOf(1, 3), TaskState::kFailed));  // not its host
  EXPECT_EQ(table.States(), (std::string{'\xff', '\x04', '\0', '\xff'}));
  EXPECT_EQ(table.Tasks(), 2U);
}

TEST(TaskTable, LaterPassBeginsAStageAnew) {
  auto table = TaskTable::OfStage(2);
  table.Enter(VisitTo("one", 1, Ordinals::All(2)));
  table.Take(Ended(KeyOf(1, 0), TaskState::kFailed));
  table.Enter(VisitTo("one", 5, Ordinals::Of({0}), 2));
  EXPECT_EQ(table.Tasks(), 1U);
  EXPECT_EQ(table.At(0).state, TaskState::kWaiting);
  table.Enter(VisitTo("one", 1, Ordinals::All(2)));  // told again
  EXPECT_EQ(table.Tasks(), 1U);
}

}  // namespace
}  // namespace muster::server
