#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.hpp"
#include "domain/batches.hpp"
#include "domain/command.hpp"
#include "domain/ids.hpp"
#include "domain/task.hpp"

namespace muster {

enum class StageState : std::uint8_t {
  kWaiting = 0,
  kRunning = 1,
  kSucceeded = 2,
  kFailed = 3,
  kTimedOut = 4,
  kCancelled = 5,
  kSkipped = 6,
};
enum class RunState : std::uint8_t {
  kCreated = 0,
  kQueued = 1,
  kRunning = 2,
  kPaused = 3,
  kSucceeded = 4,
  kFailed = 5,
  kTimedOut = 6,
  kCancelled = 7,
};

std::string_view Name(StageState state) noexcept;
std::string_view Name(RunState state) noexcept;
std::optional<RunState> ParseRunState(std::string_view name) noexcept;
bool IsFinal(StageState state) noexcept;
bool IsFinal(RunState state) noexcept;

// One stage of a run: a command on the run's hosts.
struct StageSpec {
  std::string name = "command";
  // Shared by the run's record and every order made from it.
  std::shared_ptr<const Command> command = std::make_shared<const Command>();
  std::uint32_t concurrency = 0;  // hosts at once; 0 is all
  BatchPlan batches;
  HostShare max_failures;  // tolerated per batch (per stage without batches)
  Duration wait_offline =
      std::chrono::seconds(15);  // for hosts that are not there when their turn comes
};

// What a run was asked to do. Never changes after the start.
struct RunSpec {
  std::string title;    // one line for lists: the command, shortened
  std::string targets;  // the expression as typed
  std::vector<StageSpec> stages;
};

// A host as a run froze it.
struct Target {
  HostId host;
  std::string name;

  friend bool operator==(const Target&, const Target&) = default;
};
using Targets = std::vector<Target>;

// Somebody's wish that nothing more of a run (or of one task) be started and that what runs be
// ended.
struct StopWish {
  std::string by;
  WallTime at;
  std::string reason;
  Duration grace = std::chrono::seconds(10);

  friend bool operator==(const StopWish&, const StopWish&) = default;
};

struct Stage {
  Visit visit;
  std::uint32_t index = 0;  // in RunSpec::stages
  StageState state = StageState::kWaiting;
  WallTime started;
  WallTime ended;
  TaskCounts counts;  // as of the end; live counts are the engine's
};

struct Run {
  RunId id;
  RunState state = RunState::kCreated;
  std::uint32_t pass = 1;
  std::string by;  // who started it
  RunSpec spec;
  std::uint32_t hosts = 0;  // number of targets
  WallTime created;
  WallTime ended;
  std::optional<StopWish> stop;
  std::string reason;  // why it ended as it did, when that needs words
  std::vector<Stage> stages;
};

// The end of a stage follows from its tasks: cancelled when it was stopped, else succeeded when no
// batch passed its limit (`limit_passed`) and at least one host succeeded, else timed_out when
// every counted host timed out, else failed.
StageState StageEnd(const TaskCounts& counts, bool limit_passed, bool stopped) noexcept;

// The end of a run follows from its last stage.
RunState RunEnd(StageState last) noexcept;

// Exit code of a client that waited for the run: 1 if any host failed, timed out or was killed,
// else 6 if any was unreachable, refused, skipped or lost, else 0.
int ExitCodeOf(const TaskCounts& counts) noexcept;

}  // namespace muster
