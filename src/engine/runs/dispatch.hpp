#pragma once

#include "engine/turn.hpp"

namespace muster::engine {

// Moves a run as far as it can go now, within the turn's budget: gives hosts of the current batch
// their turn, sends orders, opens the next batch, winds up what was stopped, ends the run. Returns
// false when the run ended (and is no longer in memory).
bool Advance(Turn& turn, OpenRun& run);

// The order of an attempt goes (again) to its host's link, with a fresh start_by.
void SendOrder(Turn& turn, OpenRun& run, const TaskRecord& record, const HostEntry& host);

// Arms the server's own deadline of an open attempt, `bound` from now. It ends only in lost.
void ArmDeadline(Turn& turn, OpenRun& run, std::uint32_t ordinal, Duration bound);

// How long an attempt may be out: the agent owns the timeout, so the server's bound lies later. The
// largest duration when the command has no timeout: then only the host can say.
Duration AttemptBound(const Options& options, const OpenRun& run);
// The same for an attempt that was told to end.
Duration KillBound(const Options& options, Duration grace);

// Sets batch_* for batch `index`, beginning at `begin`.
void OpenBatch(OpenRun& run, std::uint32_t index, std::uint32_t begin);

// A queued task's host is there: it is ready to be sent.
void MakeReady(Turn& turn, OpenRun& run, std::uint32_t ordinal);

// A queued task waits for its host until its wait is over (which this arms).
void ArmWait(Turn& turn, OpenRun& run, std::uint32_t ordinal);

}  // namespace muster::engine
