#include "server/results/task_table.hpp"

#include <gtest/gtest.h>

#include "unit/server_results/results_fixture.hpp"

namespace muster::server {
namespace {

TEST(TaskTable, BeginsWithEveryHostWaiting) {
  const auto table = TaskTable::OfRun(3);
  EXPECT_EQ(table.States(), std::string(3, '\0'));
  EXPECT_EQ(table.Waiting().Count(), 3U);
  EXPECT_TRUE(table.Exact().empty());
}

TEST(TaskTable, FoldsEqualOutcomes) {
  auto table = TaskTable::OfRun(3);
  table.Take(Ended(KeyOf(1, 0), TaskState::kSucceeded, 0, 'a'));
  table.Take(Ended(KeyOf(1, 2), TaskState::kSucceeded, 0, 'a'));
  table.Take(Ended(KeyOf(1, 1), TaskState::kFailed, 3, 'a'));
  ASSERT_EQ(table.Exact().size(), 2U);
  EXPECT_EQ(table.Exact().begin()->second.Count(), 2U);
}

TEST(TaskTable, MaskedOutputJoinsWhatDiffersByHostOnly) {
  auto table = TaskTable::OfRun(3);
  table.Take(Ended(KeyOf(1, 0), TaskState::kSucceeded, 0, 'a', 'm'));
  table.Take(Ended(KeyOf(1, 1), TaskState::kSucceeded, 0, 'b', 'm'));
  table.Take(Ended(KeyOf(1, 2), TaskState::kSucceeded, 0, 'c'));  // a node that masks nothing
  EXPECT_EQ(table.Exact().size(), 3U);
  EXPECT_EQ(table.MaskedGroups().size(), 2U);
}

TEST(TaskTable, LaterWordWinsInWhateverOrderTheyCome) {
  auto table = TaskTable::OfRun(1);
  table.Take(Ended(KeyOf(1, 0), TaskState::kFailed, 1, 'a'));
  table.Take(KeyOf(1, 0), TaskState::kRunning);
  table.Take(Sent(KeyOf(1, 0)));
  table.Take(Ended(KeyOf(1, 0), TaskState::kFailed, 1));
  EXPECT_TRUE(table.Exact().begin()->first.stdout_sha256.known);
  table.Take(Sent(KeyOf(1, 0, 2)));
  EXPECT_EQ(table.At(0).state, TaskState::kSent);
  table.Take(KeyOf(2, 0, 0), TaskState::kQueued);
  EXPECT_EQ(table.At(0).state, TaskState::kQueued);
}

TEST(TaskTable, AttemptThatCameTooLateLeavesItsTaskQueued) {
  auto table = TaskTable::OfRun(1);
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
