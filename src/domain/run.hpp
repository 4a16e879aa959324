#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.hpp"
#include "domain/batches.hpp"
#include "domain/command.hpp"
#include "domain/ids.hpp"
#include "domain/ordinals.hpp"
#include "domain/param.hpp"
#include "domain/stage.hpp"
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
  kPaused = 7,  // a view of kRunning: past its limit, or its run is paused
  kAwaitingApproval = 8,
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
// Whether `switch` takes this word for how a stage ended: "succeeded", "failed", …, "default". Such
// a word is never a status that hosts reported.
inline constexpr std::string_view kDefaultOutcome = "default";
bool IsOutcomeName(std::string_view word) noexcept;
std::string_view Name(RunState state) noexcept;
std::optional<RunState> ParseRunState(std::string_view name) noexcept;
bool IsFinal(StageState state) noexcept;
bool IsFinal(RunState state) noexcept;

// Of whatever waits for the same thing, by turns of 3:2:1.
enum class Priority : std::uint8_t { kHigh = 0, kNormal = 1, kLow = 2 };
std::string_view Name(Priority priority) noexcept;
std::optional<Priority> ParsePriority(std::string_view name) noexcept;

// A parameter as a run has it.
struct Param {
  std::string name;
  std::string value;  // of a secret: its name
  bool secret = false;

  friend bool operator==(const Param&, const Param&) = default;
};

// Whom to tell when a run comes into one of some states. `on` names: succeeded, failed, timed_out,
// cancelled, paused, awaiting_approval.
struct Notice {
  std::vector<std::string> on;
  std::string channel;

  friend bool operator==(const Notice&, const Notice&) = default;
};

// What a run was asked to do. Never changes in a pass; a retry with the corrected job brings
// another.
struct RunSpec {
  std::string title;    // one line for lists: the command, shortened, or the job's name
  std::string targets;  // the expression as typed
  std::vector<StageSpec> stages;
  std::string job = {};            // "" when it was not started from one
  std::uint32_t version = 0;       // of the job
  std::vector<Param> params = {};  // resolved
  // Of a job that a stage starts: what it accepts, as its parameters get their values only then.
  std::vector<ParamSpec> accepts = {};
  // Of such a job, too: on how many hosts it may run, and on how many percent of all; 0 is any.
  std::uint32_t max_hosts = 0;
  std::uint32_t max_percent = 0;
  Duration timeout{};  // a budget for the whole run; 0 is none
  Priority priority = Priority::kNormal;
  std::vector<KeyLimit> limits = {};  // taken by the run before its first stage
  std::vector<Notice> notices = {};
  std::string left_out = {};  // targets it was started without, and why; "" when none
  // The jobs its stages start, by name, as they were when it started.
  std::map<std::string, std::shared_ptr<const RunSpec>, std::less<>> jobs = {};
  // What its trigger carried when it started; later passes and plans of the run keep it.
  std::map<std::string, std::string> data = {};
};

// About how much memory a plan takes: its texts, with those of the jobs that it starts.
std::size_t BytesOf(const RunSpec& plan);

// A host as a run froze it.
struct Target {
  HostId host;
  std::string name;

  friend bool operator==(const Target&, const Target&) = default;
};
using Targets = std::vector<Target>;

// Who stops or pauses a run when no person does; no token has such a name.
inline constexpr std::string_view kByBudget = "(budget)";
inline constexpr std::string_view kByLimit = "(limit)";

// Somebody's wish that nothing more of a run (or of one task) be started and that what runs be
// ended.
struct StopWish {
  std::string by;
  WallTime at;
  std::string reason;
  Duration grace = std::chrono::seconds(10);

  friend bool operator==(const StopWish&, const StopWish&) = default;
};

// How far one stage of the plan has come in this pass.
struct StageProgress {
  std::string name;
  StageState state = StageState::kWaiting;
  Visit visit;               // the last one; none: not entered yet
  std::uint32_t visits = 0;  // in this pass
  WallTime started;          // the first of them
  WallTime ended;
  std::uint32_t hosts = 0;    // of all its visits
  TaskCounts counts;          // of the visits that have ended; live counts are the engine's
  std::uint32_t batch = 0;    // the current or last one, from 1; 0 when it has none
  std::uint32_t batches = 0;  // how many there are
  std::string reason;         // why it ended so, when that needs words

  friend bool operator==(const StageProgress&, const StageProgress&) = default;
};

// A person's answer to an `approve`.
struct Decision {
  bool approved = false;
  std::string by;  // "" when its time ran out
  WallTime at;
  std::string comment;

  friend bool operator==(const Decision&, const Decision&) = default;
};

// Where a visit stands that has more than its tasks to do.
enum class VisitPhase : std::uint8_t {
  kWork = 0,     // its tasks or inner stages
  kWait = 1,     // after a batch: the wait
  kCheck = 2,    // then the check
  kApprove = 3,  // then a person
};

// Whether hosts that come through a stage may have others before them.
enum class Onward : std::uint8_t {
  kUnknown = 0,  // the record is older than this
  kMore = 1,
  kNone = 2,  // but `finally`
};

// One entry into a stage. Visits are numbered through the whole run, over passes and inner stages.
struct StageVisit {
  Visit visit;
  std::uint32_t stage = 0;  // in RunSpec::stages of its pass
  std::string name;         // of the stage
  std::uint32_t pass = 1;
  Visit parent;  // the visit of the stage that holds this one
  Visit from;    // the visit whose `switch` led here
  StageState state = StageState::kRunning;
  bool recovers = false;  // of the stage
  Onward onward = Onward::kUnknown;
  bool in_finally = false;  // it cleans up after the others
  // Of a stage in a graph, where others may be at work beside it: the visits that it waited for.
  std::optional<std::vector<Visit>> needs = {};
  WallTime started;
  WallTime ended;
  Ordinals hosts;     // it is for
  Ordinals dropped;   // at its end: those that did not come through
  Ordinals touched;   // at its end: those that were sent a task
  TaskCounts counts;  // at its end
  // At its end, of a stage that started a run and waited for it: how hosts came out of that run.
  std::vector<std::pair<TaskState, Ordinals>> results = {};
  std::string status;  // what it reported for `switch`
  std::string reason;

  // While it is open:
  VisitPhase phase = VisitPhase::kWork;
  std::uint32_t batch = 0;        // index of the current one
  std::uint32_t batch_begin = 0;  // its first and last host, as places among `hosts`
  std::uint32_t batch_end = 0;
  std::uint32_t inner = 0;              // which of its stages
  Ordinals batch_dropped;               // of the current batch, by its inner stages so far
  std::uint32_t batch_failures = 0;     // of those, what max_failures counts
  std::uint32_t batch_unreachable = 0;  // and what max_unreachable counts
  bool batch_accepted = false;          // a person went on in spite of them
  std::vector<Ordinals> begins;         // hosts that begin at inner stage 1, 2, … in this visit
  WallTime until;                       // when the wait is over, or the approval runs out
  std::string message;                  // what is to be approved
  std::optional<Decision> decision;     // the last one
  RunId child;                          // the run it started

  friend bool operator==(const StageVisit&, const StageVisit&) = default;
};

// Why a run stands still.
struct Pause {
  std::string by;  // or kByLimit
  WallTime at;
  std::string reason;
  bool release = false;  // gives its keys back meanwhile

  friend bool operator==(const Pause&, const Pause&) = default;
};

// What an operator changed of a run that goes on.
struct Override {
  std::optional<std::uint32_t> stage;  // nothing: every stage
  std::optional<std::uint32_t> concurrency;
  std::optional<HostShare> max_failures;
  std::optional<HostShare> max_unreachable = {};

  friend bool operator==(const Override&, const Override&) = default;
};

struct Run {
  RunId id;
  RunState state = RunState::kCreated;
  std::uint32_t pass = 1;
  std::string by;  // who started it
  // Who else caused what it does now: who retried or changed it, and the authors of what a trigger
  // started or a retry brought. No two are equal.
  std::vector<std::string> starters = {};
  std::uint32_t plan_pass = 1;  // its plan holds since this pass
  RunSpec spec;
  std::uint32_t hosts = 0;  // number of targets
  WallTime created;
  WallTime ended;
  std::optional<StopWish> stop;
  std::string reason;                 // why it ended as it did, when that needs words
  std::vector<StageProgress> stages;  // one for each of the plan
  TaskCounts counts;                  // of its hosts, by their results; as of the end
  std::uint32_t next_visit = 1;
  std::optional<Pause> pause;
  StageState outcome = StageState::kSucceeded;  // so far; what it will end as
  bool closing = false;                         // on its `finally` stages
  Duration used{};                              // of the budget, up to `ticking`
  WallTime ticking;                             // since when the budget is used; zero: it is not
  std::vector<Override> overrides;
  std::vector<std::uint32_t> skips;  // stages to be skipped when their turn comes
  RunId parent;                      // the run that started it
  Visit parent_visit;
  std::vector<RunId> above = {};  // that run and those above it, the topmost first
  bool guarded = false;           // a run above it asks for approvals
  // The keys of those runs as they were when it began, without templates: another pass of this run
  // takes them, if nobody above it holds them any more.
  std::vector<KeyLimit> keys_above = {};
  std::string trigger;            // that started it; "" is none
  WallTime slot;                  // the nominal time it was started for
  std::string trace_parent = {};  // its caller's place in a trace (TraceParent); "" is none
  // Which batch took the first stop of this pass, and which ended the run; none: not yet, or the
  // row is older than these.
  CommitNumber stop_commit = {};
  CommitNumber ended_commit = {};
};

// The end of a stage follows from its tasks: cancelled when it was stopped, else succeeded when no
// batch passed its limit (`limit_passed`) and at least one host succeeded, else timed_out when
// every counted host timed out, else failed.
StageState StageEnd(const TaskCounts& counts, bool limit_passed, bool stopped) noexcept;

// The end of a run follows from what its stages came to.
RunState RunEnd(StageState last) noexcept;

// Exit code of a client that waited for the run: 1 if any host failed, timed out or was killed,
// else 6 if any was unreachable, refused or lost, else 0.
int ExitCodeOf(const TaskCounts& counts) noexcept;

}  // namespace muster
