#pragma once

#include <string_view>

#include "domain/run.hpp"

namespace muster {

// Whether a run of the plan is one of the job, or starts one, however deep.
bool StartsJob(const RunSpec& plan, std::string_view job);

}  // namespace muster
