#pragma once

#include <optional>
#include <set>
#include <string>

#include "engine/turn.hpp"

namespace muster::engine {

// How tasks end. Each function moves one slot to its end (or back to the queue), writes the record,
// keeps the counts, and wakes the run.

// The mark of a task that said nothing.
LogMark SilentLog();

// Moves a slot to another state, in the visit's counts and in the run's.
void MoveSlot(OpenRun& run, OpenVisit& visit, std::uint32_t ordinal, TaskState state);

// Counts the host as it stands now: by a task that is open, else by its result.
void CountHost(OpenRun& run, std::uint32_t ordinal);

// An attempt that was sent ends by `event`. `end` is the node's word, `mark` its output's final
// mark when that is durable. Ignored when the task's state does not allow the event. Where the
// stage allows for it, another attempt follows.
void EndAttempt(Turn& turn, OpenRun& run, OpenVisit& visit, std::uint32_t ordinal, TaskEvent event,
                std::optional<TaskEnd> end, std::string reason, std::optional<LogMark> mark);

// How the reason of a lost attempt ends that may still be at work. It is no longer true when its
// end is reported late.
inline constexpr std::string_view kMayStillRun = "; the command may still run there";

// Nobody can say what became of it. A stop that never reached its host stays open as a wish.
void LoseAttempt(Turn& turn, OpenRun& run, OpenVisit& visit, std::uint32_t ordinal,
                 std::string reason);

// A task that was never sent (or only in attempts that surely did not run) ends.
void EndUnsent(Turn& turn, OpenRun& run, OpenVisit& visit, std::uint32_t ordinal, TaskEvent event,
               std::string reason);

// A task that was never sent as far as this store knows, which came from a backup: whether it was
// sent after that, nobody here can say. It ends as lost, under the attempt it would have had.
void LoseUnsent(Turn& turn, OpenRun& run, OpenVisit& visit, std::uint32_t ordinal,
                std::string reason);

// The task has ended on its host: there is nothing left to stop.
void ForgetWish(Turn& turn, const TaskKey& task);

// The node's own word (`event` says which): this attempt did not start. The task waits for its
// next.
void ReturnToQueue(Turn& turn, OpenRun& run, OpenVisit& visit, std::uint32_t ordinal,
                   TaskEvent event, std::string reason);

// Whether a failed attempt is followed by another: the stage has retries left, and nobody wants the
// task to end. A load asks the same of the rows it finds.
bool MayRetry(const OpenRun& run, const OpenVisit& visit, const Slot& slot,
              const TaskRecord& ended);

// The host has nothing more to say of its ended tasks but those in `except` (it lost them, or its
// key is no longer accepted): outputs that were still coming end with a gap.
void GiveUpOutputs(Turn& turn, HostId host, const std::set<TaskKey>& except);

}  // namespace muster::engine
