#pragma once

#include "engine/turn.hpp"

// A run's `timeout` is a budget that waits, pauses and approvals do not use.
namespace muster::engine {

// Starts or stops the run's clock as its open visits demand.
void Tick(Turn& turn, OpenRun& run);
void StopTicking(Turn& turn, OpenRun& run);

// The budget's timer fired: nothing more is started when it is used up.
void OnBudget(Turn& turn, OpenRun& run);

}  // namespace muster::engine
