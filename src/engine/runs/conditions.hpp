#pragma once

#include "domain/condition.hpp"
#include "engine/turn.hpp"

// Stages that hold an answer against a bound. Everything follows from the answer, the time it came,
// and what the trigger carried when its run started.
namespace muster::engine {

// The bound of a condition in this run. kInvalid: what its template came to is no finite number.
Result<double> BoundOf(const OpenRun& run, const ConditionAction& action);

// A request that succeeded, as the end of its stage: with the outputs `value`, `state`, `changed`
// and `since`, and `status` for `switch`; or failed, when its value cannot be judged.
TaskEnd Judged(const OpenRun& run, const OpenVisit& visit, const ConditionAction& action,
               TaskEnd end, WallTime now);

// The run has ended: what its conditions leave to the trigger's next firing. Those that were not
// judged leave what was there, and so do those that began with something else. Of stages that are
// gone nothing stays.
void CarryConditions(const OpenRun& run, CarriedData& data);

}  // namespace muster::engine
