#include "domain/host_result.hpp"

#include <map>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace muster {
namespace {

using Tasks = HostTasks<>;

StageVisit VisitTo(std::uint32_t stage, std::uint32_t number, std::uint32_t pass = 1) {
  StageVisit visit;
  visit.visit = Visit(number);
  visit.stage = stage;
  visit.pass = pass;
  visit.onward = Onward::kNone;
  visit.hosts = Ordinals::All(1);
  return visit;
}

TaskState ResultOf(const Tasks& tasks) { return Tasks::Standing(tasks.Deciding(), false); }

void Take(Tasks& tasks, const StageVisit& visit, TaskState state, std::uint32_t attempt = 1) {
  tasks.Take(Tasks::Of(visit, Attempt(attempt), state));
}

TEST(HostResult, WorstCountsInItsOrder) {
  const TaskState order[] = {TaskState::kFailed,  TaskState::kTimedOut, TaskState::kKilled,
                             TaskState::kLost,    TaskState::kRefused,  TaskState::kUnreachable,
                             TaskState::kSkipped, TaskState::kSucceeded};
  for (std::size_t i = 0; i < std::size(order); ++i)
    for (std::size_t k = 0; k < std::size(order); ++k)
      EXPECT_EQ(IsWorse(order[i], order[k]), i < k) << Name(order[i]) << " " << Name(order[k]);
}

TEST(HostResult, CleanupThatSucceedsDoesNotHideAFailure) {
  Tasks tasks;
  Take(tasks, VisitTo(0, 1), TaskState::kFailed);
  Take(tasks, VisitTo(1, 2), TaskState::kSucceeded);
  EXPECT_EQ(ResultOf(tasks), TaskState::kFailed);
  EXPECT_EQ(tasks.Deciding()->visit, Visit(1));
}

TEST(HostResult, LaterVisitAndLaterAttemptReplaceEarlierOnes) {
  Tasks tasks;
  Take(tasks, VisitTo(0, 1), TaskState::kFailed, 1);
  Take(tasks, VisitTo(0, 1), TaskState::kSucceeded, 2);
  EXPECT_EQ(ResultOf(tasks), TaskState::kSucceeded);
  Take(tasks, VisitTo(0, 2), TaskState::kFailed);  // a poll: not yet
  EXPECT_EQ(ResultOf(tasks), TaskState::kFailed);
  Take(tasks, VisitTo(0, 3), TaskState::kSucceeded);
  EXPECT_EQ(ResultOf(tasks), TaskState::kSucceeded);
  Take(tasks, VisitTo(0, 2), TaskState::kFailed, 2);  // told late
  EXPECT_EQ(ResultOf(tasks), TaskState::kSucceeded);
}

TEST(HostResult, StageThatRecoversClearsWhatLedToIt) {
  StageVisit repair = VisitTo(1, 2);
  repair.recovers = true;
  Tasks tasks;
  Take(tasks, VisitTo(0, 1), TaskState::kFailed);
  Take(tasks, repair, TaskState::kLost);
  EXPECT_EQ(ResultOf(tasks), TaskState::kFailed);
  Take(tasks, repair, TaskState::kSucceeded, 2);
  EXPECT_EQ(ResultOf(tasks), TaskState::kSucceeded);
  Take(tasks, VisitTo(2, 3), TaskState::kTimedOut);
  EXPECT_EQ(ResultOf(tasks), TaskState::kTimedOut);
}

TEST(HostResult, CleanupAloneIsNoNewPass) {
  StageVisit tidy = VisitTo(2, 3);
  tidy.in_finally = true;
  StageVisit again = VisitTo(2, 6, 2);
  again.in_finally = true;
  Tasks tasks;
  Take(tasks, VisitTo(0, 1), TaskState::kFailed);
  Take(tasks, tidy, TaskState::kTimedOut);
  Take(tasks, again, TaskState::kSucceeded);
  EXPECT_EQ(ResultOf(tasks), TaskState::kFailed);
  Take(tasks, VisitTo(0, 7, 3), TaskState::kSucceeded);
  EXPECT_EQ(ResultOf(tasks), TaskState::kSucceeded);
}

TEST(HostResult, HostWithoutATaskWasSkippedWhenTheRunHasEnded) {
  const Tasks tasks;
  EXPECT_EQ(Tasks::Standing(tasks.Deciding(), true), TaskState::kWaiting);
  EXPECT_EQ(Tasks::Standing(tasks.Deciding(), false), TaskState::kSkipped);
  EXPECT_EQ(Tasks::InStage(tasks.Deciding()), TaskState::kWaiting);
}

TEST(HostResult, PassBeginsAgainForHostsThatHaveATaskInIt) {
  Tasks tasks;
  Take(tasks, VisitTo(0, 1), TaskState::kFailed);
  Take(tasks, VisitTo(1, 5, 2), TaskState::kSucceeded);
  EXPECT_EQ(ResultOf(tasks), TaskState::kSucceeded);
  Take(tasks, VisitTo(0, 1), TaskState::kFailed, 2);  // of the pass before, told late
  EXPECT_EQ(ResultOf(tasks), TaskState::kSucceeded);
}

TEST(HostResult, OpenTaskIsShownAndOneThatWaitsForTheNextStage) {
  Tasks tasks;
  StageVisit first = VisitTo(0, 1);
  first.onward = Onward::kMore;
  Take(tasks, first, TaskState::kSucceeded);
  EXPECT_EQ(Tasks::Standing(tasks.Deciding(), true), TaskState::kWaiting);
  EXPECT_EQ(Tasks::Standing(tasks.Deciding(), false), TaskState::kSucceeded);
  Take(tasks, VisitTo(1, 2), TaskState::kRunning);
  EXPECT_EQ(Tasks::Standing(tasks.Deciding(), true), TaskState::kRunning);
}

// The rule as it is written, over all tasks of the host.
TaskState ByTheRule(const std::vector<Tasks::Task>& all) {
  std::uint32_t pass = 0;
  for (const auto& task : all)
    if (!task.in_finally) pass = std::max(pass, task.pass);
  std::map<Visit, Tasks::Task> of_visit;
  for (const auto& task : all)
    if (task.pass >= pass)
      if (auto& last = of_visit[task.visit]; task.attempt >= last.attempt) last = task;
  std::map<std::uint32_t, Tasks::Task> of_stage;
  for (const auto& [visit, task] : of_visit) {
    of_stage[task.stage] = task;
    if (task.recovers && task.state == TaskState::kSucceeded)
      std::erase_if(of_stage, [&](const auto& item) { return item.second.visit < visit; });
  }
  TaskState worst = all.empty() ? TaskState::kSkipped : TaskState::kSucceeded;
  for (const auto& [stage, task] : of_stage)
    if (IsWorse(task.state, worst)) worst = task.state;
  return worst;
}

// Nothing follows an attempt that succeeded.
TaskState SomeEnd(bool last) {
  const int first = static_cast<int>(last ? TaskState::kSucceeded : TaskState::kFailed);
  return static_cast<TaskState>(
      *rc::gen::inRange(first, static_cast<int>(TaskState::kSkipped) + 1));
}

RC_GTEST_PROP(HostResult, IsTheRulesInAnyOrderAndPrunedInTheirs, ()) {
  std::vector<Tasks::Task> all;
  std::uint32_t number = 0;
  for (const std::uint32_t pass : {1U, 2U}) {
    const auto visits = *rc::gen::inRange(0, 6);
    for (int i = 0; i < visits; ++i) {
      StageVisit visit = VisitTo(*rc::gen::inRange(0U, 4U), ++number, pass);
      visit.recovers = visit.stage == 3;
      visit.in_finally = visit.stage == 2;
      const auto attempts = *rc::gen::inRange(0U, 3U);
      for (std::uint32_t attempt = 1; attempt <= attempts; ++attempt)
        all.push_back(Tasks::Of(visit, Attempt(attempt), SomeEnd(attempt == attempts)));
    }
  }
  Tasks in_order;
  for (const auto& task : all) {
    in_order.Take(task);
    in_order.Prune();
  }
  const TaskState expected = ByTheRule(all);
  RC_ASSERT(ResultOf(in_order) == expected);
  for (std::size_t i = all.size(); i > 1; --i)
    std::swap(all[i - 1], all[*rc::gen::inRange<std::size_t>(0, i)]);
  Tasks in_any;
  for (const auto& task : all) in_any.Take(task);
  RC_ASSERT(ResultOf(in_any) == expected);
}

}  // namespace
}  // namespace muster
