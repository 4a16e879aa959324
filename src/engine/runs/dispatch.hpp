#pragma once

#include "engine/turn.hpp"

// A visit whose stage works on hosts: batches, concurrency, orders.
namespace muster::engine {

// Moves a visit as far as it can go now, within the turn's budget: gives hosts of the current batch
// their turn, sends orders, opens the next batch, winds up what was stopped. Nothing new is started
// while the run is paused. When all its tasks are over, `ends_as` is set.
void AdvanceTasks(Turn& turn, OpenRun& run, OpenVisit& visit);

// Whether there is something to do for it at once.
bool HasWork(const OpenRun& run, const OpenVisit& visit);

// The order of an attempt goes (again) to its host's link, with a fresh start_by.
void SendOrder(Turn& turn, const OpenRun& run, const OpenVisit& visit, const TaskRecord& record,
               const HostEntry& host, HostAction command);

// Arms the server's own deadline of an open attempt, `bound` from now. It ends only in lost.
void ArmDeadline(Turn& turn, OpenRun& run, OpenVisit& visit, std::uint32_t ordinal, Duration bound);

// How long an attempt may be out: the agent owns the timeout, so the server's bound lies later. The
// largest duration when the command has no timeout: then only the host can say.
Duration AttemptBound(const Options& options, const muster::Command& command);
// The same for an attempt that was told to end.
Duration KillBound(const Options& options, Duration grace);

// Makes the slots of a new visit and opens its batch.
void OpenTasks(OpenRun& run, OpenVisit& visit);
// Opens the batch after the current one, whatever that came to.
void NextBatch(Turn& turn, OpenRun& run, OpenVisit& visit);
// Counts what is left of the batch that the visit's record names.
void CountBatch(const OpenRun& run, OpenVisit& visit);
// A host of the batch has ended.
void CountInBatch(const OpenRun& run, OpenVisit& visit, TaskState ended);

// A queued task's host is there: it is ready to be sent.
void MakeReady(Turn& turn, OpenRun& run, OpenVisit& visit, std::uint32_t ordinal);

// A queued task waits for its host until its wait is over (which this arms).
void ArmWait(Turn& turn, OpenRun& run, OpenVisit& visit, std::uint32_t ordinal);

// What applies to a stage now: its own, unless an operator set another for the run.
std::uint32_t ConcurrencyOf(const OpenRun& run, const OpenVisit& visit);
BatchLimits LimitsOf(const OpenRun& run, std::uint32_t stage);
// Whether a task that ended so counts for max_failures: in batches also one that was refused.
bool FailsBatch(const StageSpec& spec, TaskState state);

}  // namespace muster::engine
