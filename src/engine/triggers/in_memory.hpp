#pragma once

#include <string>

#include "engine/turn.hpp"

// Triggers come into memory when they are due within the hour, have an open run, or somebody means
// them, and leave it when none of that holds.
namespace muster::engine {

// The trigger, from memory or as looked up. kNotFound: there is none; kUnavailable: it changed
// after the look-up.
Result<TriggerEntry*> Hold(Turn& turn, const std::string& name,
                           const ReadAt<std::optional<Trigger>>& known);

// The same, also when there is none or it was dropped: then a new row, with the mark of the old.
Result<TriggerEntry*> HoldAny(Turn& turn, const std::string& name,
                              const ReadAt<std::optional<Trigger>>& known);

// Whether `known` still tells the truth about a trigger that is not in memory.
bool IsCurrent(const State& state, const std::string& name, CommitNumber read);

// Brings a row in that is not there yet. What lies between a backup and its restore is settled.
TriggerEntry& Enter(State& state, Trigger trigger);

// Reads the spec anew; one that cannot be read ends in error.
void Compile(State& state, TriggerEntry& entry);

// The row has changed: it is written, once, at the end of the turn.
void Keep(Turn& turn, TriggerEntry& entry);

// When to look at it next; zero: not by itself.
void Arm(State& state, TriggerEntry& entry, WallTime at);

// Open runs of a trigger.
const std::set<RunId>& OpenRunsOf(const State& state, const std::string& name);

// Writes what changed in this turn, and lets go of what has nothing to do soon.
void WriteTriggers(Turn& turn);

void LoadTriggers(State& state, Snapshot& snapshot, Now now);

}  // namespace muster::engine
