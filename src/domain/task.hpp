#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/instant.hpp"
#include "base/result.hpp"
#include "domain/ids.hpp"
#include "domain/log.hpp"

namespace muster {

// One host's work in a stage. The numbers are stored and are one byte each in the API's `states`
// view: never renumber.
enum class TaskState : std::uint8_t {
  kWaiting = 0,  // its turn has not come (batch, concurrency); has no row
  kQueued = 1,   // its turn has come, its host is not there; has no row
  kSent =
      2,  // the order is durable and on its way; from here only the node's word says "did not run"
  kRunning = 3,  // known from the link, never stored
  kSucceeded = 4,
  kFailed = 5,
  kTimedOut = 6,
  kKilled = 7,
  kLost = 8,         // sent, and nobody can say what became of it
  kUnreachable = 9,  // the host was not there in time; it did not run
  kRefused = 10,     // the node will never run it (user, interpreter, feature); it did not run
  kSkipped = 11,     // stopped before it was sent; it did not run
};
constexpr std::size_t kTaskStates = 12;

// The ledger's three answers for every ended task.
enum class Verdict { kRan, kDidNotRun, kUnknown };

enum class TaskEvent {
  kTurn,            // its batch and concurrency allow it
  kDispatch,        // the order is being committed
  kStarted,         // the node says the process runs
  kRefusedLate,     // the node says: past start_by, not started. Goes back to wait for the next
                    // attempt
  kRefusedForGood,  // also before it was sent: its node lacks a feature
  kExitZero,
  kExitNonZero,  // also ended by a signal nobody of ours sent
  kTimeout,
  kKilled,
  kNotStarted,  // the node's word: it had the order, and the process never started
  kGone,        // the node has no memory of it (reboot, wiped folder, shim killed), or the deadline
                // passed
  kOfflineOver,  // the wait for an offline host is over
  kStop,         // a stop reached it before it was sent
  kUnsure,       // never sent as far as this store knows, but it was restored from a backup and the
                 // server of then may have sent it since
};

std::string_view Name(TaskState state) noexcept;
std::optional<TaskState> ParseTaskState(std::string_view name) noexcept;
bool IsFinal(TaskState state) noexcept;
Verdict VerdictOf(TaskState final_state) noexcept;

// Failed, timed out, killed or lost: what `max_failures` counts.
bool CountsAsFailure(TaskState state) noexcept;

// Returns the state a task moves to, or kConflict when that cannot be: a final state is never left,
// so a late report from a lost agent cannot undo what was decided.
Result<TaskState> Next(TaskState from, TaskEvent event);

// How an attempt ended, by the node's own word.
struct TaskEnd {
  TaskState state =
      TaskState::kFailed;  // kSucceeded, kFailed, kTimedOut, kKilled, kRefused, kSkipped, kLost
  int exit_code = 0;       // of the process; 0 when ended by a signal
  int signal = 0;          // 0 when it exited by itself
  std::string reason;      // for people: "user 'web' does not exist", "timed out after 30s"
  bool leftovers = false;  // processes of the task live on
  std::uint64_t peak_memory = 0;  // bytes; known when its memory was limited
  WallTime started;               // by the host's clock
  WallTime ended;
  std::optional<LogTotals> log;  // set when the output is complete and every byte was handed over
  // What the script wrote to $MUSTER_OUTPUT, in order, a name once.
  std::vector<std::pair<std::string, std::string>> outputs = {};

  friend bool operator==(const TaskEnd&, const TaskEnd&) = default;
};

// The event a node's end stands for.
TaskEvent EventOf(const TaskEnd& end) noexcept;

// How many tasks are in each state.
struct TaskCounts {
  std::array<std::uint32_t, kTaskStates> by_state{};

  std::uint32_t& operator[](TaskState state) { return by_state[static_cast<std::size_t>(state)]; }
  std::uint32_t operator[](TaskState state) const {
    return by_state[static_cast<std::size_t>(state)];
  }
  void Move(TaskState from, TaskState to) {
    --(*this)[from];
    ++(*this)[to];
  }
  std::uint32_t Total() const;
  std::uint32_t Ended() const;
  std::uint32_t Failures() const;  // those that CountsAsFailure
  friend bool operator==(const TaskCounts&, const TaskCounts&) = default;
};

}  // namespace muster
