#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "domain/records.hpp"
#include "engine/caller.hpp"
#include "engine/keeping/commands.hpp"
#include "engine/limiter/commands.hpp"
#include "ports/store.hpp"

// Commands that steer a run, and their answers.
namespace muster::engine {

struct RunStopping {
  RunId run;
  RunState state = RunState::kRunning;
};

struct StopRun {
  using Answer = RunStopping;

  Caller caller;
  RunId run;
  std::optional<HostId> host;  // only this one
  Duration grace = std::chrono::seconds(10);
  std::string reason;
  ReadAt<std::optional<Run>> known;  // looked up just before
};

struct RunSteered {
  RunId run;
  RunState state = RunState::kRunning;
  std::uint32_t pass = 1;
};

// Steering. Each is durable, and on the audit trail.
struct PauseRun {
  using Answer = RunSteered;

  Caller caller;
  RunId run;
  bool release = false;  // its keys go back meanwhile
  std::string reason;
};

struct ResumeRun {
  using Answer = RunSteered;

  Caller caller;
  RunId run;
};

struct PassPlanned {  // the hosts that a retry goes on with
  std::shared_ptr<const Targets> targets;
  Ordinals hosts;  // of them
};

// Opens the next pass of a run that has ended or is paused. By default the hosts that failed, each
// from the stage that it failed in.
struct RetryRun {
  using Answer = std::variant<RunSteered, PassPlanned, GateClosed>;

  Caller caller;
  RunId run;
  std::string from;                          // a stage to begin again with
  bool from_start = false;                   // with the first
  bool all_hosts = false;                    // also those that came through, or dropped out earlier
  bool dry_run = false;                      // answer PassPlanned, and change nothing
  std::shared_ptr<const RunSpec> plan = {};  // the corrected one
  std::vector<std::string> authors = {};     // who applied it, and the jobs it starts
  ReadAt<std::optional<Snapshot::OpenRun>> known;  // looked up just before, when it is not open
  std::string reason = {};
  bool during_freeze = false;
  FrozenHosts frozen = {};
};

struct SkipStage {
  using Answer = RunSteered;

  Caller caller;
  RunId run;
  std::string stage;
  std::string reason;
};

struct AnswerApproval {
  using Answer = RunSteered;

  Caller caller;
  RunId run;
  std::string stage;  // "" is the one that waits
  bool approved = false;
  std::string comment;
  std::string approval = {};  // ApprovalId of what the person was shown; "" is what waits now
};

struct SetRun {
  using Answer = RunSteered;

  Caller caller;
  RunId run;
  std::string stage;  // "" is every stage
  std::optional<std::uint32_t> concurrency;
  std::optional<HostShare> max_failures;
  std::optional<HostShare> max_unreachable = {};
};

}  // namespace muster::engine
