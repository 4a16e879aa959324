#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.hpp"
#include "cron/schedule.hpp"
#include "domain/ids.hpp"

// A trigger starts runs of a job when they are due. A document (`kind: trigger`) declares it. The
// document is kept as it was written; beside it one small row says what the engine needs: the spec
// that was read from it, and the trigger's own life. Applying a changed document replaces the spec
// and keeps the life.
//
// A slot is a trigger and a nominal time. Each ends exactly once: started, or skipped for a reason.
namespace muster {

// What becomes of slots that came due while nobody could start them.
enum class MissedRule : std::uint8_t {
  kSkip = 0,    // nothing is made up for
  kLatest = 1,  // the last of them is started, unless a later one is due by now
  kAll = 2,     // each is, up to a number, one after the other
};
// What becomes of a slot that comes due while a run of its trigger is open.
enum class OverlapRule : std::uint8_t {
  kSkip = 0,
  kQueue = 1,    // it waits until the run has ended; of too many the oldest are skipped
  kReplace = 2,  // the run is stopped, and the slot begins when it has ended
  kAllow = 3,    // so many runs may be open at once; past that as kSkip
};
enum class TriggerState : std::uint8_t { kRunnable, kRunning, kPaused, kComplete, kError };

std::string_view Name(MissedRule rule) noexcept;
std::string_view Name(OverlapRule rule) noexcept;
std::string_view Name(TriggerState state) noexcept;
std::optional<MissedRule> ParseMissedRule(std::string_view name) noexcept;
std::optional<OverlapRule> ParseOverlapRule(std::string_view name) noexcept;

// Slots in it are skipped: from each due time of an expression on, for so long.
struct Blackout {
  std::string cron;
  Duration lasts{};
  std::string tz = "UTC";

  friend bool operator==(const Blackout&, const Blackout&) = default;
};

// What the document says.
struct TriggerSpec {
  std::string name;
  // Exactly one of these three.
  std::string cron;  // as src/cron reads it; H and ? are picked by the trigger's name
  Duration every{};  // whole seconds, counted from `start`, or from when it was applied
  WallTime once;
  std::string tz = "UTC";
  bool both_days = false;
  cron::GapRule gap = cron::GapRule::kFirst;
  cron::FoldRule fold = cron::FoldRule::kOnce;

  std::string job;
  std::map<std::string, std::string> params;
  // Parameters of the job whose value hosts may report (Trigger::data). None is in `params`.
  std::set<std::string> carry;
  std::string targets;  // "" is what the job says
  std::string exclude;

  WallTime start;  // slots lie at or after it, and
  WallTime end;    // before it; zero is no bound
  MissedRule missed = MissedRule::kLatest;
  Duration missed_window = std::chrono::hours(24);  // older ones are skipped whatever the rule
  std::uint32_t missed_most = 100;                  // of kAll
  OverlapRule overlap = OverlapRule::kSkip;
  std::uint32_t overlap_allowed = 1;  // of kAllow
  std::uint32_t queue_most = 10;      // of kQueue
  Duration jitter{};    // a slot is due so much later at most: a hash of trigger and slot
  Duration deadline{};  // a slot that has not begun so long after it was due is skipped; 0: none
  std::vector<Blackout> blackouts;
  std::string channel;                             // told of missed slots and errors; "" is none
  std::map<std::string, std::string> constraints;  // on who carries the run out

  friend bool operator==(const TriggerSpec&, const TriggerSpec&) = default;
};

// Whether two specs have the same slots.
bool SameSlots(const TriggerSpec& a, const TriggerSpec& b);

// Why a slot was skipped.
namespace why {
inline constexpr std::string_view kMissed = "missed";      // nobody could start it in time
inline constexpr std::string_view kOverlap = "overlap";    // a run of the trigger was open
inline constexpr std::string_view kPaused = "paused";      // somebody had paused the trigger
inline constexpr std::string_view kGap = "gap";            // the clock jumped over it
inline constexpr std::string_view kBlackout = "blackout";  // the document says not then
inline constexpr std::string_view kDeadline = "deadline";  // it could not begin in time
inline constexpr std::string_view kLimit = "limit";        // a gate was closed, or no host was left
inline constexpr std::string_view kFrozen = "frozen";      // somebody had frozen runs
inline constexpr std::string_view kRestored = "restored";  // between a backup and its restore
inline constexpr std::string_view kError = "error";        // the run could not be made
inline constexpr std::string_view kByHand = "by_hand";     // somebody said so
}  // namespace why

enum class SlotFate : std::uint8_t {
  kStarted = 0,
  kSkipped = 1,
  kSchedule = 2,  // no slot: after `first` another schedule holds, or none
};

// What became of a slot. Neighbours of one trigger that were skipped for one reason are one row,
// which grows. Key: (trigger, first, act).
struct SlotRecord {
  std::string trigger;
  WallTime first;  // nominal times
  WallTime last;
  // 0 for slots of the schedule. For what a person asked for (fire now, backfill) the number of the
  // entry on the audit trail: the same time may be started so again. For a kSchedule of its own.
  std::uint64_t act = 0;
  std::uint32_t count = 1;
  SlotFate fate = SlotFate::kStarted;
  std::string why;     // of a skipped one
  std::string detail;  // for people; may be empty
  RunId run;           // of a started one
  WallTime at;         // when it was decided; of several the first
  // Of the document that held; of several the first. A kSchedule has 0 where no schedule holds.
  std::uint32_t version = 0;
  bool asked = false;  // a run asked for it (Trigger::asked): the schedule has no slot then
  CommitNumber commit;

  friend bool operator==(const SlotRecord&, const SlotRecord&) = default;
};

// Slots that are yet to be counted as skipped: all after the mark and not after `until`.
struct Settling {
  WallTime until;
  std::string why;
  std::string detail;

  friend bool operator==(const Settling&, const Settling&) = default;
};

// Slots of the past that a person wants to be started, one after the other.
struct Backfill {
  WallTime next;  // slots from here on
  WallTime to;    // and not after this
  std::uint64_t act = 0;
  std::string by;
  bool during_freeze = false;  // freezes do not hold its slots back

  friend bool operator==(const Backfill&, const Backfill&) = default;
};

struct SkipWish {
  WallTime slot;
  std::string by;
  std::string reason;

  friend bool operator==(const SkipWish&, const SkipWish&) = default;
};

// The row.
struct Trigger {
  TriggerSpec spec;
  std::uint32_t version = 0;  // of the document
  std::string hash;           // of the document; "" in rows from before it was kept
  std::string by;             // who applied this version; "" likewise
  WallTime applied;           // first; where `every` counts from without a start
  bool dropped = false;       // its document was deleted; the mark stays

  WallTime mark;  // no slot at or before it is ever started by schedule again; it never goes back
  WallTime next;  // the first slot after the mark; zero: none
  WallTime seen;  // slots up to here came due while somebody watched: they wait, and are not missed
  std::optional<Settling> settling;
  std::vector<SkipWish> skips;  // of slots to come, by time
  std::optional<Backfill> backfill;

  bool paused = false;
  std::string paused_by;
  std::string reason;

  bool complete = false;                    // its job said that this was all
  WallTime asked;                           // its job's wish: nothing before it, and a slot then
  std::map<std::string, std::string> data;  // carried from firing to firing; hosts report it
  std::string status;                       // what its job last said of itself

  bool failed = false;  // for good: it starts nothing until it is applied anew or resumed
  std::string error;    // the last one, until a slot is started
  std::uint32_t errors_in_a_row = 0;
  WallTime retry_at;  // zero: not waiting to try again

  std::uint64_t started = 0;
  std::uint64_t skipped = 0;
  RunId last_run;
  WallTime last_slot;
  std::optional<SlotRecord> fold;  // the last row, while the next slot may still join it

  friend bool operator==(const Trigger&, const Trigger&) = default;
};

// `open`: whether a run of it is.
TriggerState StateOf(const Trigger& trigger, bool open) noexcept;

// How many triggers are in each state, as their rows say: whether a run is open is not asked.
struct TriggerCounts {
  std::uint64_t runnable = 0;
  std::uint64_t paused = 0;
  std::uint64_t complete = 0;
  std::uint64_t error = 0;

  std::uint64_t All() const { return runnable + paused + complete + error; }
  // Of a state that a row can be in: not kRunning.
  std::uint64_t& Of(TriggerState state) noexcept;

  friend bool operator==(const TriggerCounts&, const TriggerCounts&) = default;
};

// Among which a row counts; nothing: it is dropped.
std::optional<TriggerState> CountedAs(const Trigger& trigger) noexcept;

// Whether time alone can make it do something.
bool IsIdle(const Trigger& trigger) noexcept;

// The hour since 1970 in which it next has something to do; 0: never by itself. Stores find
// triggers by it: it is so coarse that most changes leave it as it is.
std::int64_t DueHour(const Trigger& trigger) noexcept;
constexpr std::int64_t HourOf(WallTime time) noexcept { return time.ms / 3'600'000; }

// Who starts the runs of a trigger; no token has such a name: "(trigger nightly)".
std::string ByTrigger(std::string_view name);

}  // namespace muster
