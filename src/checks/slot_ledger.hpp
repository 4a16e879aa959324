#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cron/zone.hpp"
#include "domain/trigger.hpp"

// Whether each due slot of a trigger ended exactly once. Works from the record alone, and counts
// the due times itself. It shares the cron library with the engine, and nothing else: a mistake
// there is for the tests against other implementations to find.
namespace muster::checks {

// A run that says it was started for a slot.
struct SlotRun {
  RunId run;
  WallTime slot;
};

// All that is on record of one trigger for a period.
struct SlotHistory {
  Trigger trigger;
  bool open = false;  // a run of it is
  // Those with a time in the period, oldest (first, act) first; before them the last kSchedule that
  // is older, when there is one.
  std::vector<SlotRecord> rows;
  std::vector<SlotRun> runs;  // started by the schedule or a backfill since the period began
  WallTime since;             // slots at or after it
  WallTime until;             // and before it
  WallTime now;               // when this was read
};

// What the checker has to ask for.
struct SlotSources {
  // The spec of a version of the trigger's document.
  std::function<Result<TriggerSpec>(std::uint32_t version)> spec;
  // nullptr: there is none of that name.
  std::function<std::shared_ptr<const cron::Zone>(const std::string& name)> zone;
  // Asked every few thousand due times; an error ends the check, which fails with it. May be empty.
  std::function<Result<>()> go_on = {};
};

struct SlotFinding {
  enum class Kind : std::uint8_t {
    kDoubled,  // ended or started more than once
    kLost,     // was due, and is not on record
    kStray,    // is on record, and was not due
    kOverdue,  // was due long ago, and nothing keeps it from being decided
  };
  Kind kind;
  WallTime first;
  WallTime last;
  std::uint64_t count = 0;
  std::string text;
};
std::string_view Name(SlotFinding::Kind kind) noexcept;

struct SlotReport {
  std::uint64_t due = 0;                         // in the period, by the schedules that held
  std::uint64_t started = 0;                     // of these
  std::map<std::string, std::uint64_t> skipped;  // of these, by reason
  std::uint64_t waiting = 0;                     // of these: after the mark, so not decided yet
  std::uint64_t asked = 0;                       // beside the schedule, asked for by runs
  std::uint64_t by_hand = 0;                     // fired or backfilled
  std::vector<SlotFinding> findings;             // at most kMostFindings
  std::uint64_t more_findings = 0;               // beyond those
  WallTime checked_from;  // later than the period's begin when what held before is not kept
};
inline constexpr std::size_t kMostFindings = 100;

// An error means that the check could not be made: a document or zone that is not there, or it was
// not to go on.
Result<SlotReport> CheckSlots(const SlotHistory& history, const SlotSources& sources);

}  // namespace muster::checks
