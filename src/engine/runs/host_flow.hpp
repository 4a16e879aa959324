#pragma once

#include "engine/state.hpp"

// How hosts come through a run's stages.
namespace muster::engine {

// Where in the document the stage stands, or the one that holds it.
Section SectionOf(const RunSpec& spec, std::uint32_t stage);

// A visit has ended: which hosts later stages find ok.
void MoveHosts(OpenRun& run, const StageVisit& ended);

// A sequence ends in the middle of its batch's inner stages: each of its hosts that is still ok
// drops out at the stage that it would go on with.
void DropUnfinished(OpenRun& run, StageVisit& sequence);
// It ended so, as its row has it.
void PlaceUnfinished(OpenRun& run, const StageVisit& sequence);

// A visit whose stage started a run has ended: its hosts' results there are their results here.
void TakeResults(OpenRun& run, const StageVisit& ended);

// The flow lets the hosts of a visit into its stage. What lies behind the stage counts as not
// entered by them until the flow comes there again: in a loop, and in a later pass, an approval on
// the way must be given again. Visits come in their order, of the plan the run has now.
void MarkEntered(OpenRun& run, const StageVisit& begun);

// A visit has ended: which of its hosts came through. Of a stage that did not go well these are the
// hosts whose own task succeeded; of one without tasks, none.
void MarkPassed(OpenRun& run, const StageVisit& ended);

// A visit begins: what the stage reported on its hosts before does not count any more.
void ForgetReported(OpenRun& run, const StageVisit& begun);

}  // namespace muster::engine
