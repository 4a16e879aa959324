#include "server/api/plans.hpp"

namespace muster::server::api {

Result<std::shared_ptr<const RunSpec>> CorrectedPlan(Services& /*services*/, const Run& run) {
  if (run.spec.job.empty())
    return Fail(ErrorCode::kConflict, "run {} was not started from a job, so it has no versions",
                FormatRunId(run.id));
  return Fail(ErrorCode::kNotFound, "there is no job '{}' any more", run.spec.job);
}

}  // namespace muster::server::api
