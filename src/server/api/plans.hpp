#pragma once

#include <memory>

#include "base/result.hpp"
#include "domain/run.hpp"
#include "server/api/services.hpp"

namespace muster::server::api {

// The plan of a run's job as the job is now, with the run's own parameters and targets. kConflict
// when the run was not started from a job, kNotFound when the job is gone.
Result<std::shared_ptr<const RunSpec>> CorrectedPlan(Services& services, const Run& run);

}  // namespace muster::server::api
