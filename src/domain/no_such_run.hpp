#pragma once

#include "base/result.hpp"
#include "domain/ids.hpp"

namespace muster {

// kNotFound, in the same words wherever a run was asked for that is not there.
inline Error NoSuchRun(RunId id) {
  return {ErrorCode::kNotFound,
          fmt::format("there is no run {}; see 'muster runs'", FormatRunId(id))};
}

}  // namespace muster
