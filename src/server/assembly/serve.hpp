#pragma once

#include <functional>

#include "base/result.hpp"
#include "server/runtime/log_ring.hpp"
#include "server/settings/config.hpp"

namespace muster::server {

// Reads file, variables and flags over the defaults; again at each SIGHUP.
using Load = std::function<Result<Config>()>;

// Puts a server together and runs it until it is told to end.
Result<> Serve(Config config, const Load& load, LogRing& log);

}  // namespace muster::server
