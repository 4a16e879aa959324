#include "domain/task.hpp"

namespace muster {
namespace {

constexpr std::array<std::string_view, kTaskStates> kNames{
    "waiting",   "queued", "sent", "running",     "succeeded", "failed",
    "timed_out", "killed", "lost", "unreachable", "refused",   "skipped"};

// What the event makes of a task that may still move, or nothing where the event cannot be.
std::optional<TaskState> StateAfter(TaskState from, TaskEvent event) {
  const bool never_sent = from == TaskState::kWaiting || from == TaskState::kQueued;
  const bool on_node = from == TaskState::kSent || from == TaskState::kRunning;
  const auto when = [](bool allowed, TaskState to) {
    return allowed ? std::optional(to) : std::nullopt;
  };
  switch (event) {
    case TaskEvent::kTurn:
      return when(from == TaskState::kWaiting, TaskState::kQueued);
    case TaskEvent::kDispatch:
      return when(never_sent, TaskState::kSent);
    case TaskEvent::kStarted:
      return when(on_node, TaskState::kRunning);
    case TaskEvent::kRefusedLate:
      return when(from == TaskState::kSent, TaskState::kQueued);
    case TaskEvent::kRefusedForGood:
      return TaskState::kRefused;
    case TaskEvent::kExitZero:
      return when(on_node, TaskState::kSucceeded);
    case TaskEvent::kExitNonZero:
      return when(on_node, TaskState::kFailed);
    case TaskEvent::kTimeout:
      return when(on_node, TaskState::kTimedOut);
    case TaskEvent::kKilled:
      return when(on_node, TaskState::kKilled);
    case TaskEvent::kNotStarted:
      return when(on_node, TaskState::kQueued);
    case TaskEvent::kGone:
      return when(on_node, TaskState::kLost);
    case TaskEvent::kOfflineOver:
      return when(never_sent, TaskState::kUnreachable);
    case TaskEvent::kStop:
      return when(never_sent, TaskState::kSkipped);
    case TaskEvent::kUnsure:
      return when(never_sent, TaskState::kLost);
  }
  return std::nullopt;
}

}  // namespace

std::string_view Name(TaskState state) noexcept { return kNames[static_cast<std::size_t>(state)]; }

std::optional<TaskState> ParseTaskState(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<TaskState>(i);
  return std::nullopt;
}

bool IsFinal(TaskState state) noexcept { return state >= TaskState::kSucceeded; }

Verdict VerdictOf(TaskState final_state) noexcept {
  switch (final_state) {
    case TaskState::kSucceeded:
    case TaskState::kFailed:
    case TaskState::kTimedOut:
    case TaskState::kKilled:
      return Verdict::kRan;
    case TaskState::kUnreachable:
    case TaskState::kRefused:
    case TaskState::kSkipped:
      return Verdict::kDidNotRun;
    case TaskState::kLost:
    case TaskState::kWaiting:
    case TaskState::kQueued:
    case TaskState::kSent:
    case TaskState::kRunning:
      return Verdict::kUnknown;
  }
  return Verdict::kUnknown;
}

bool CountsAsFailure(TaskState state) noexcept {
  return state == TaskState::kFailed || state == TaskState::kTimedOut ||
         state == TaskState::kKilled || state == TaskState::kLost;
}

Result<TaskState> Next(TaskState from, TaskEvent event) {
  if (IsFinal(from)) return Fail(ErrorCode::kConflict, "task already ended as {}", Name(from));
  if (const auto to = StateAfter(from, event)) return *to;
  return Fail(ErrorCode::kConflict, "a {} task cannot take event {}", Name(from),
              static_cast<int>(event));
}

TaskEvent EventOf(const TaskEnd& end) noexcept {
  switch (end.state) {
    case TaskState::kSucceeded:
      return TaskEvent::kExitZero;
    case TaskState::kFailed:
      return TaskEvent::kExitNonZero;
    case TaskState::kTimedOut:
      return TaskEvent::kTimeout;
    case TaskState::kKilled:
      return TaskEvent::kKilled;
    case TaskState::kRefused:
      return TaskEvent::kRefusedForGood;
    case TaskState::kSkipped:
      return TaskEvent::kNotStarted;
    case TaskState::kLost:
    case TaskState::kWaiting:
    case TaskState::kQueued:
    case TaskState::kSent:
    case TaskState::kRunning:
    case TaskState::kUnreachable:
      return TaskEvent::kGone;
  }
  return TaskEvent::kGone;
}

std::uint32_t TaskCounts::Total() const {
  std::uint32_t total = 0;
  for (const auto count : by_state) total += count;
  return total;
}

std::uint32_t TaskCounts::Ended() const {
  std::uint32_t total = 0;
  for (std::size_t i = 0; i < kTaskStates; ++i)
    if (IsFinal(static_cast<TaskState>(i))) total += by_state[i];
  return total;
}

std::uint32_t TaskCounts::Failures() const {
  std::uint32_t total = 0;
  for (std::size_t i = 0; i < kTaskStates; ++i)
    if (CountsAsFailure(static_cast<TaskState>(i))) total += by_state[i];
  return total;
}

}  // namespace muster
