#pragma once

#include "engine/command.hpp"
#include "server/api/call.hpp"

namespace muster::server::api {

// Who makes a call, as the engine records it.
engine::Caller CallerOf(const Call& call);

}  // namespace muster::server::api
