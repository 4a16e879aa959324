#include "domain/run_row.hpp"

#include <utility>

namespace muster {

RunSpec RowSpecOf(const RunSpec& spec) {
  RunSpec row;
  row.title = spec.title;
  row.targets = spec.targets;
  row.job = spec.job;
  row.version = spec.version;
  row.priority = spec.priority;
  return row;
}

RunSpec JoinPlan(const RunSpec& row, RunSpec plan) {
  plan.title = row.title;
  plan.targets = row.targets;
  plan.job = row.job;
  plan.version = row.version;
  plan.priority = row.priority;
  return plan;
}

}  // namespace muster
