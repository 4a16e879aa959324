#pragma once

#include "engine/turn.hpp"

// Timers of runs that are due.
namespace muster::engine {

void Fire(Turn& turn, const WaitOver& due);
void Fire(Turn& turn, const RetryDue& due);
void Fire(Turn& turn, const TaskDeadline& due);
void Fire(Turn& turn, const VisitDue& due);
void Fire(Turn& turn, const BudgetDue& due);

}  // namespace muster::engine
