#pragma once

#include "domain/run.hpp"

// A run is kept in two parts, as most of what it was asked to do is long and never changes: a row
// that changes often and is listed, and its plan.
namespace muster {

// Of a run's spec, what its row says: title, targets, job, version and priority.
RunSpec RowSpecOf(const RunSpec& spec);

// The spec of a run from its row's and its plan. What the row says holds.
RunSpec JoinPlan(const RunSpec& row, RunSpec plan);

}  // namespace muster
