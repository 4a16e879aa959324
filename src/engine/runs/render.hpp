#pragma once

#include "engine/limiter/limiter.hpp"
#include "engine/turn.hpp"

// Templates of a run's plan, evaluated into data.
namespace muster::engine {

// A text as it is for the whole run.
Result<std::string> RenderText(const OpenRun& run, const std::string& text);
Result<bool> HoldsNow(const OpenRun& run, const std::string& condition);

// The command of a visit as every host gets it; nothing when it differs from host to host.
Result<HostAction> RenderForAll(const OpenRun& run, const StageSpec& spec);

// The keys that a host's task takes.
Result<std::vector<WantedKey>> RenderKeys(const State& state, const OpenRun& run,
                                          const OpenVisit& visit, std::uint32_t ordinal);

// The command as one host gets it. kNotFound names what it lacks; kInvalid: it reads too much. The
// turn is charged for what it costs.
Result<HostAction> RenderFor(Turn& turn, const OpenRun& run, const OpenVisit& visit,
                             std::uint32_t ordinal);

}  // namespace muster::engine
