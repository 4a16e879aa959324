#pragma once

#include "engine/turn.hpp"

// What people do to triggers. Each is durable, and on the audit trail.
namespace muster::engine {

// Starts nothing until it is resumed; what runs goes on. Slots that come due meanwhile are counted
// as skipped when it is resumed: a paused trigger costs nothing.
void Decide(Turn& turn, const PauseTrigger& command);
void Decide(Turn& turn, const ResumeTrigger& command);
void Decide(Turn& turn, const SkipSlot& command);
void Decide(Turn& turn, const BackfillTrigger& command);
void Decide(Turn& turn, const FireTrigger& command);

}  // namespace muster::engine
