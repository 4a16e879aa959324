#pragma once

#include "server/api/call.hpp"
#include "server/api/services.hpp"

namespace muster::server::api {

// Hosts that should be there and are not: declared by a document and never joined, or joined and
// not connected now. Those that were revoked count only when a document still declares them.
void ListMissing(Services& services, const CallPtr& call);

}  // namespace muster::server::api
