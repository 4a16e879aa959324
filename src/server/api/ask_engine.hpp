#pragma once

#include "server/api/artifacts.hpp"
#include "server/leading/engine_thread.hpp"

namespace muster::server::api {

// The engine's answer, by its open tasks. `engine` must outlive it.
AskAboutFile AskEngine(EngineThread& engine);

}  // namespace muster::server::api
