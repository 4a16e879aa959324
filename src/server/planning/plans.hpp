#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "documents/documents.hpp"
#include "domain/run.hpp"
#include "server/planning/inventory.hpp"

namespace muster::server {

// The run's own parameters, as far as the job still has them, as `muster start -p` takes them.
std::vector<std::pair<std::string, std::string>> ParamsOf(const Run& run,
                                                          const documents::JobDocument& job);

struct Corrected {
  std::shared_ptr<const RunSpec> plan;
  std::vector<std::string> authors;  // who applied the job, those it starts, and the groups
};
// The plan of a run's job as the job is now, with the run's own parameters and targets. kConflict
// when the run was not started from a job, kNotFound when the job is gone.
Result<Corrected> CorrectedPlan(const Inventory& inventory, const Run& run);

}  // namespace muster::server
