#pragma once

#include "engine/turn.hpp"
#include "ports/store.hpp"

namespace muster::engine {

// Processes that hosts have and records do not: their tasks were sent after the backup that this
// server was restored from. They are work that somebody started and go on, until their run is
// stopped: a stop ends what runs, whatever became of its records.

// For a Hello whose `looked` has the records of its tasks: how the runs of those stand that have
// none. At most 1,000 runs are read.
Result<> LookAtRuns(Store& store, NodeHello& hello);

// The stop that holds for a task which runs on a host, and which no record calls open; of its run,
// or of one above it.
const StopWish* StopOver(const State& state, const TaskKey& task, const NodeHello::Looked& looked);

// Whether a run ended after it was looked at, so that a stop may have been missed.
bool RunLookedTooEarly(const State& state, const TaskKey& task, const NodeHello::Looked& looked);

// The trail names each, once in a term.
void TellStranger(Turn& turn, const HostEntry& entry, const TaskKey& task, bool stopped);

// Kills those of a run, and lost ones that live, where their hosts have a link. The others are told
// at their next Hello.
void KillStrangers(Turn& turn, RunId run, Duration grace);

}  // namespace muster::engine
