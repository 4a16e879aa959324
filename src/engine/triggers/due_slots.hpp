#pragma once

#include "engine/turn.hpp"

// Time passes: slots come due, plans for them are asked for and come back, runs end.
//
//   due ──► Judge ──skip──► on record
//             │  └──wait──► until a run ends, or the next slot
//             └─start─► PrepareSlot … FireSlot ──► Judge again ──► run, slot and mark in one commit
//
// A crash between the two loses nothing: after a load every trigger that is due is looked at again,
// and the mark makes it once.
namespace muster::engine {

// Looks at what is due, within the turn's budget, and asks for what comes near.
void LookAtTriggers(Turn& turn);

// Whether that has more to do at once; and when it has, at the latest.
bool TriggersDue(const State& state, Now now);
MonoTime NextTriggerWake(const State& state);

// Looks at one trigger now, as something about it changed.
void LookAt(Turn& turn, TriggerEntry& entry);

void Decide(Turn& turn, const TakeTriggers& command);
void Decide(Turn& turn, const FireSlot& command);

// A run has ended: what it said back is the trigger's, and slots that waited for it may begin.
void OnTriggeredRunEnd(Turn& turn, const OpenRun& open);

}  // namespace muster::engine
