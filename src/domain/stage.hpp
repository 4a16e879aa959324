#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/instant.hpp"
#include "domain/batches.hpp"
#include "domain/command.hpp"

// What a run does, stage by stage: a plan, pinned when the run starts. Texts marked "template" may
// hold ${{ … }}, which is evaluated into data when the stage is entered (or, where it names a host,
// when the host's task is made). Nothing else is: a script is code and is never put together.
namespace muster {

// Which of the run's hosts a stage is for. In a stage entered by `switch`, failed and touched are
// those of the stage that switched; elsewhere, of all stages so far.
enum class HostChoice : std::uint8_t {
  kOk = 0,       // that came through everything so far
  kFailed = 1,   // that dropped out
  kTouched = 2,  // that were sent at least one task
  kAll = 3,
};

enum class OnLimit : std::uint8_t { kFail = 0, kPause = 1 };
enum class Repeat : std::uint8_t { kNever = 0, kSafe = 1 };  // of an attempt that was lost

// Where in the document a stage stands.
enum class Section : std::uint8_t {
  kMain = 0,     // in its turn
  kBranch = 1,   // only by `switch`
  kFinally = 2,  // at the end, however it went
  kBetween = 3,  // the check between two batches of its parent
};

// Waits for a person.
struct ApproveAction {
  // Of the template and of what it becomes. The messages of all that waits are in memory.
  static constexpr std::size_t kMostMessage = 4 << 10;

  std::string message;          // template
  std::vector<std::string> by;  // roles or names of tokens; none is any operator
  bool not_starter = false;
  Duration timeout = std::chrono::hours(24);  // then it counts as rejected

  friend bool operator==(const ApproveAction&, const ApproveAction&) = default;
};

// Waits for a time.
struct WaitAction {
  Duration time{};
  std::string until;  // template of an RFC 3339 time, instead

  friend bool operator==(const WaitAction&, const WaitAction&) = default;
};

// A request made by the server.
struct HttpAction {
  // Of the url, once its expressions are filled in. Errors repeat it.
  static constexpr std::size_t kMostUrl = 8 << 10;

  std::string method = "GET";
  std::string url;                                           // template
  std::vector<std::pair<std::string, std::string>> headers;  // values are templates
  std::string body;                                          // template
  std::vector<std::uint16_t> expect;                         // statuses; none is any 2xx
  std::map<std::string, std::string> outputs;                // name, JSON pointer into the answer
  Duration timeout = std::chrono::seconds(30);

  friend bool operator==(const HttpAction&, const HttpAction&) = default;
};

// A message through a channel.
struct NotifyAction {
  std::string channel;
  std::string message;  // template

  friend bool operator==(const NotifyAction&, const NotifyAction&) = default;
};

// Another job as a child run on this stage's hosts.
struct JobAction {
  std::string job;
  std::map<std::string, std::string> params;  // values are templates
  bool wait = true;                           // for its end, and take its outcome

  friend bool operator==(const JobAction&, const JobAction&) = default;
};

// How a value is compared with a bound.
enum class Comparison : std::uint8_t {
  kAbove = 0,
  kBelow = 1,
  kAtLeast = 2,
  kAtMost = 3,
  kEquals = 4,
  kDiffers = 5,
};

// What an answer without the value counts as.
enum class MissingValue : std::uint8_t {
  kError = 0,   // the stage fails
  kOk = 1,      // as if it did not hold
  kFiring = 2,  // as if it did
};

// A request whose answer is held against a bound; domain/condition.hpp judges.
struct ConditionAction {
  static constexpr std::string_view kStatus = "status";

  HttpAction request;  // without outputs; `expect` as there, and any status when that is the value
  std::string value;   // JSON pointer into the answer, or kStatus; "" is the answer's body
  Comparison comparison = Comparison::kAbove;
  std::string bound;  // template of a number
  Duration hold{};    // so long it must hold before it counts
  MissingValue missing = MissingValue::kError;

  friend bool operator==(const ConditionAction&, const ConditionAction&) = default;
};

// Holds other stages, which run one after the other on each of its batches.
struct SequenceAction {
  friend bool operator==(const SequenceAction&, const SequenceAction&) = default;
};

// What a stage does on its hosts (script, push, pull, reboot). Shared by the run's record and every
// order made from it. Templates in it: arguments, values of the environment, stdin, folder, and
// what FilePush and FilePull say.
using HostAction = std::shared_ptr<const Command>;

using Action = std::variant<HostAction, SequenceAction, ApproveAction, WaitAction, HttpAction,
                            NotifyAction, JobAction, ConditionAction>;

// At most `max` at once of everything that has this key.
struct KeyLimit {
  std::string key;  // template; one that names `host` is taken by each task, others by the run
  std::uint32_t max = 1;

  friend bool operator==(const KeyLimit&, const KeyLimit&) = default;
};

// Counted per task: attempts that failed or timed out are followed by another.
struct Retries {
  std::uint32_t max = 0;
  Duration backoff = std::chrono::seconds(5);

  friend bool operator==(const Retries&, const Retries&) = default;
};

struct StageSpec {
  std::string name = "command";
  Section section = Section::kMain;
  std::optional<std::uint32_t> parent = {};  // the stage that holds it
  Action action = std::make_shared<const Command>();
  HostChoice hosts = HostChoice::kOk;
  std::string when = {};  // template; the stage is skipped when it is false
  // Which stages of its list it waits for; nothing: the one before it.
  std::optional<std::vector<std::uint32_t>> needs = {};
  // The stage that follows, by outcome (IsOutcomeName, as "succeeded" or "default") or by the
  // status the stage reported; kEnd ends the list.
  static constexpr std::uint32_t kEnd = ~0U;
  std::map<std::string, std::uint32_t, std::less<>> next = {};
  std::uint32_t max_visits = 10;  // in one pass; only a stage that is switched to meets it
  bool recovers = false;          // a run that came here by a failure may still succeed
  Retries retries = {};
  Repeat repeat = Repeat::kNever;

  std::uint32_t concurrency = 0;  // hosts at once; 0 is all
  BatchPlan batches = {};
  Duration between_wait{};                            // after each batch but the last
  std::optional<ApproveAction> between_approve = {};  // likewise
  HostShare max_failures = {};  // tolerated per batch (per stage without batches)
  // Tolerated likewise of hosts that were not reached; nothing: any number, but a batch without a
  // host that succeeded opens no other.
  std::optional<HostShare> max_unreachable = {};
  OnLimit on_limit = OnLimit::kFail;
  Duration spread{};  // each host starts at its own moment within it
  Duration wait_offline =
      std::chrono::seconds(15);  // for hosts that are not there when their turn comes
  std::vector<KeyLimit> limits = {};

  friend bool operator==(const StageSpec& a, const StageSpec& b);
};

// The command of a stage that works on hosts; nullptr for every other.
const Command* CommandOf(const StageSpec& stage) noexcept;
HostAction SharedCommandOf(const StageSpec& stage) noexcept;

// Whether a stage makes tasks for hosts itself.
inline bool WorksOnHosts(const StageSpec& stage) noexcept {
  return std::holds_alternative<HostAction>(stage.action);
}

// "script", "push", "pull", "reboot", "stages", "approve", "wait", "http", "notify", "job",
// "condition".
std::string_view ActionName(const StageSpec& stage) noexcept;

// "above", "below", "at_least", "at_most", "equals", "differs".
std::string_view Name(Comparison comparison) noexcept;

std::string_view Name(HostChoice choice) noexcept;
std::optional<HostChoice> ParseHostChoice(std::string_view name) noexcept;

}  // namespace muster
