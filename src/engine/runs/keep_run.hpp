#pragma once

#include "engine/turn.hpp"

// Rows of open runs.
namespace muster::engine {

// The run's row has changed: it is written, once, at the end of the turn, and told of.
void KeepRun(Turn& turn, OpenRun& run);
void WriteRuns(Turn& turn);

// The run as its row has it: its plan is long, and stays where it is.
PutRun RowOf(Run& run);

}  // namespace muster::engine
