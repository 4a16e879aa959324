#pragma once

#include <functional>

#include "domain/host_result.hpp"
#include "ports/store.hpp"

namespace muster::server::api {

// The tasks of a host in a run, as far as they say how it stands, with their rows. What a stage
// says itself of the host (StageVisit::results) is a task without a row: its key has no run.
// `goes_on` is asked between two reads; its error ends the look-up.
using HostTaskRows = HostTasks<TaskRecord>;
Result<HostTaskRows> TasksOfHost(Store& store, RunId run, HostId host,
                                 const std::function<Result<>()>& goes_on);

}  // namespace muster::server::api
