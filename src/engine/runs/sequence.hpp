#pragma once

#include "engine/runs/stage_entry.hpp"

// A stage that holds others: they run one after the other on a batch of its hosts, then on the
// next batch. After each batch come the wait, the check and the person that `between` asks for (the
// check also after the last one), and its failures are judged.
namespace muster::engine {

void OpenSequence(Turn& turn, OpenRun& run, OpenVisit& sequence, const Entry& entry);

// One of its stages, or its check, has ended.
void OnInnerEnd(Turn& turn, OpenRun& run, const StageVisit& inner);

// What it waits for has come: the time, or an approval.
void GoOn(Turn& turn, OpenRun& run, OpenVisit& sequence);

// Somebody resumed the run. A sequence that had stopped at its limit takes those failures and goes
// on with the hosts that are left.
void TakeFailures(Turn& turn, OpenRun& run, OpenVisit& sequence);

// Whether it stands at its limit, and somebody is to decide how it goes on.
bool StoppedAtLimit(const OpenRun& run, const OpenVisit& sequence);

// Whether none of its stages is open.
bool IsIdle(const OpenRun& run, const OpenVisit& sequence);

}  // namespace muster::engine
