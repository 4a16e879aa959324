#include "domain/run.hpp"

#include <array>

namespace muster {
namespace {

constexpr std::array<std::string_view, 9> kStageNames{"waiting", "running",   "succeeded",
                                                      "failed",  "timed_out", "cancelled",
                                                      "skipped", "paused",    "awaiting_approval"};
constexpr std::array<std::string_view, 3> kPriorityNames{"high", "normal", "low"};
constexpr std::array<std::string_view, 8> kRunNames{
    "created", "queued", "running", "paused", "succeeded", "failed", "timed_out", "cancelled"};

}  // namespace

std::string_view Name(StageState state) noexcept {
  return kStageNames[static_cast<std::size_t>(state)];
}
bool IsOutcomeName(std::string_view word) noexcept {
  if (word == kDefaultOutcome) return true;
  for (std::size_t i = 0; i < kStageNames.size(); ++i)
    if (kStageNames[i] == word) return IsFinal(static_cast<StageState>(i));
  return false;
}
std::string_view Name(RunState state) noexcept {
  return kRunNames[static_cast<std::size_t>(state)];
}

std::optional<RunState> ParseRunState(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kRunNames.size(); ++i)
    if (kRunNames[i] == name) return static_cast<RunState>(i);
  return std::nullopt;
}

std::string_view Name(Priority priority) noexcept {
  return kPriorityNames[static_cast<std::size_t>(priority)];
}
std::optional<Priority> ParsePriority(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kPriorityNames.size(); ++i)
    if (kPriorityNames[i] == name) return static_cast<Priority>(i);
  return std::nullopt;
}

bool IsFinal(StageState state) noexcept {
  return state >= StageState::kSucceeded && state <= StageState::kSkipped;
}
bool IsFinal(RunState state) noexcept { return state >= RunState::kSucceeded; }

StageState StageEnd(const TaskCounts& counts, bool limit_passed, bool stopped) noexcept {
  if (stopped) return StageState::kCancelled;
  if (!limit_passed && counts[TaskState::kSucceeded] > 0) return StageState::kSucceeded;
  const auto failures = counts.Failures();
  if (failures > 0 && counts[TaskState::kTimedOut] == failures) return StageState::kTimedOut;
  return StageState::kFailed;
}

RunState RunEnd(StageState last) noexcept {
  switch (last) {
    case StageState::kSucceeded:
    case StageState::kSkipped:
      return RunState::kSucceeded;
    case StageState::kTimedOut:
      return RunState::kTimedOut;
    case StageState::kCancelled:
      return RunState::kCancelled;
    case StageState::kFailed:
    case StageState::kWaiting:
    case StageState::kRunning:
    case StageState::kPaused:
    case StageState::kAwaitingApproval:
      return RunState::kFailed;
  }
  return RunState::kFailed;
}

int ExitCodeOf(const TaskCounts& counts) noexcept {
  if (counts[TaskState::kFailed] + counts[TaskState::kTimedOut] + counts[TaskState::kKilled] > 0)
    return 1;
  if (counts[TaskState::kUnreachable] + counts[TaskState::kRefused] + counts[TaskState::kLost] > 0)
    return 6;
  return 0;
}

}  // namespace muster
