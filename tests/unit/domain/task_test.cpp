#include "domain/task.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(TaskNext, TimedOutTaskRefusesLateSuccess) {
  auto next = Next(TaskState::kTimedOut, TaskEvent::kExitZero);
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, ErrorCode::kConflict);
}

TEST(TaskNext, NoEventLeavesAFinalState) {
  for (std::size_t s = 0; s < kTaskStates; ++s) {
    const auto state = static_cast<TaskState>(s);
    if (!IsFinal(state)) continue;
    for (int e = 0; e <= static_cast<int>(TaskEvent::kStop); ++e)
      EXPECT_FALSE(Next(state, static_cast<TaskEvent>(e))) << Name(state) << " event " << e;
  }
}

TEST(TaskNext, OnceSentATaskNeverEndsAsDidNotRunWithoutTheNodesWord) {
  for (const auto state : {TaskState::kSent, TaskState::kRunning}) {
    EXPECT_FALSE(Next(state, TaskEvent::kOfflineOver));
    EXPECT_FALSE(Next(state, TaskEvent::kStop));
    EXPECT_EQ(*Next(state, TaskEvent::kGone), TaskState::kLost);
  }
}

TEST(TaskNext, LateRefusalGoesBackToWaitOnlyBeforeItRan) {
  EXPECT_EQ(*Next(TaskState::kSent, TaskEvent::kRefusedLate), TaskState::kQueued);
  EXPECT_FALSE(Next(TaskState::kRunning, TaskEvent::kRefusedLate));
}

TEST(TaskNext, ANodesWordThatNothingStartedGoesBackToWait) {
  EXPECT_EQ(*Next(TaskState::kSent, TaskEvent::kNotStarted), TaskState::kQueued);
  EXPECT_EQ(*Next(TaskState::kRunning, TaskEvent::kNotStarted), TaskState::kQueued);
  EXPECT_FALSE(Next(TaskState::kWaiting, TaskEvent::kNotStarted));
}

TEST(TaskState, NamesRoundTrip) {
  for (std::size_t s = 0; s < kTaskStates; ++s)
    EXPECT_EQ(ParseTaskState(Name(static_cast<TaskState>(s))), static_cast<TaskState>(s));
  EXPECT_FALSE(ParseTaskState("done"));
}

}  // namespace
}  // namespace muster
