#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "domain/trigger.hpp"
#include "engine/triggers/tally.hpp"
#include "engine/triggers/timetable.hpp"
#include "ports/store.hpp"

namespace muster::engine {

// A trigger that can act soon: due within the hour, with an open run, or just touched.
struct TriggerEntry {
  Trigger trigger;
  std::shared_ptr<const TriggerSpec> spec;  // the same, shared with effects
  std::optional<Timetable> times;           // nothing: its spec cannot be read
  struct Asked {
    WallTime slot;
    std::uint64_t act = 0;
    WallTime again;  // when to ask once more
  };
  std::optional<Asked> preparing;       // a plan was asked for
  std::optional<Asked> backfilling;     // likewise, for Trigger::backfill
  bool changed = false;                 // its row is to be written at the end of this turn
  bool grown = false;                   // likewise the row of Trigger::fold
  CommitNumber changed_at;              // the last batch of this term with its row
  std::optional<TriggerState> counted;  // in TriggerMemory::counts; nothing: it is not
  WallTime armed;                       // its place in TriggerMemory::due; zero: none
};

// What the engine holds of triggers. Those that are not here wait in the store.
struct TriggerMemory {
  std::map<std::string, TriggerEntry, std::less<>> entries;
  std::set<std::pair<WallTime, std::string>> due;            // by the wall clock, as slots are
  std::map<std::string, std::set<RunId>, std::less<>> runs;  // open ones
  std::set<std::string> touched;                             // in this turn

  // Triggers that were let go lately, and when: a look-up from before that is no longer true. Of
  // others only look-ups since `left_forgotten_at` can be trusted.
  std::unordered_map<std::string, CommitNumber> left;
  std::deque<std::pair<std::string, CommitNumber>> left_order;
  CommitNumber left_forgotten_at;

  TriggerCounts counts;         // of all there are, also in the store
  bool counts_changed = false;  // they are to be written at the end of this turn
  SlotTally tally;

  std::int64_t horizon = 0;  // all that is due up to this hour is here
  struct Fetch {
    DueCursor after;
    std::int64_t until = 0;
    MonoTime again;  // when to ask once more
  };
  std::optional<Fetch> fetch;  // under way
  Now looked{};                // when the engine last did
};

}  // namespace muster::engine
