#pragma once

#include "base/instant.hpp"
#include "base/result.hpp"
#include "server/api/call.hpp"

namespace muster::server::api {

// What a check looks at: at or after `since`, and before `until`.
struct Period {
  WallTime since;
  WallTime until;
};

// From the query of a call; by default the day up to `now`, and never beyond it. kInvalid names the
// parameter.
Result<Period> PeriodOf(const Call& call, WallTime now);

}  // namespace muster::server::api
