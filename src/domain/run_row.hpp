#pragma once

#include "domain/run.hpp"

// A run is kept in two parts, as most of what it was asked to do is long and never changes: a row
// that changes often and is listed, and its plan.
namespace muster {

// A row is written often, so it has the beginning of long parameters, and no more of them than
// kMostRowParams together.
inline constexpr std::size_t kMostRowParam = 256;
inline constexpr std::size_t kMostRowParams = 4 << 10;
std::vector<Param> RowParamsOf(const std::vector<Param>& params);
// Whether this is only the beginning of a value.
bool IsCut(const Param& row);

// Of a run's spec, what its row says: title, targets, job, version, priority, and the parameters as
// RowParamsOf has them.
RunSpec RowSpecOf(const RunSpec& spec);

// The spec of a run from its row's and its plan. What the row says holds, but for the parameters.
RunSpec JoinPlan(const RunSpec& row, RunSpec plan);

}  // namespace muster
