#pragma once

#include "server/api/router.hpp"
#include "server/api/services.hpp"

namespace muster::server::api {

// Handlers of the checks that have a file of their own; see CheckRoutes.
void CheckHistory(Services& services, const CallPtr& call);

}  // namespace muster::server::api
