#pragma once

#include "engine/turn.hpp"

// Tells channels what became of runs. A notice is kept in the batch that makes it true and dropped
// once its channel took it, so it is told at least once, whatever happens to the server in between.
// What a channel does not take is tried again, ever more slowly, for a day; then the audit trail
// says that it was not told.
//
// Of one run, channel and state at most two notices are kept: one under way, and the newest behind
// it. A newer one makes those between, and one that waits for its next attempt, out of date.
namespace muster::engine {

// A run came into a state that Notice::on knows by this name. `what` is for people: why, or what
// is to be done; may be empty. Before the run's row is written.
void TellChannels(Turn& turn, OpenRun& run, std::string_view state, std::string_view what);

// Something about a trigger: its channel is told of it as of a run. `state` is one word for
// programs.
void TellOfTrigger(Turn& turn, const TriggerSpec& trigger, std::string_view state,
                   std::string message);

// The moment for its next attempt has come.
void Fire(Turn& turn, const NoticeDue& due);

// How an attempt ended. False: it is no notice's.
bool TakeNoticeReport(Turn& turn, const ServerReport& command);

void Decide(Turn& turn, const NoteTest& command);

// What an earlier leadership left to be told, also when it was just telling it.
void LoadNotices(State& state, Snapshot& snapshot, Now now);

}  // namespace muster::engine
