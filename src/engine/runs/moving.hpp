#pragma once

#include "engine/state.hpp"

// How hosts come through a run's stages.
namespace muster::engine {

// Where in the document the stage stands, or the one that holds it.
Section SectionOf(const RunSpec& spec, std::uint32_t stage);

// A visit has ended: which hosts later stages find ok.
void MoveHosts(OpenRun& run, const StageVisit& ended);

// A visit begins: what the stage reported on its hosts before is of no account from now on.
void ForgetReported(OpenRun& run, const StageVisit& begun);

}  // namespace muster::engine
