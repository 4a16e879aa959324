#pragma once

#include "engine/runs/flow.hpp"

// Opening visits.
namespace muster::engine {

struct Opening {
  Ordinals hosts = {};
  Visit parent = {};
  Entry entry = {};
};

// Opens a visit to a stage. Returns false when the stage is skipped (an operator said so, or its
// `when` does not hold): it is on record as such, and the next one is due. A stage that cannot be
// entered (a template that names what is not there) opens and ends as failed.
bool OpenStage(Turn& turn, OpenRun& run, std::uint32_t stage, const Opening& opening);

// Whether a stage does something with hosts, itself, in its inner stages or in a run it starts.
bool IsAboutHosts(const StageSpec& spec);

// The hosts a stage itself would choose.
Ordinals ChooseHosts(const OpenRun& run, const StageSpec& spec, Visit from);

// Writes the visit's row.
void KeepVisit(Turn& turn, const OpenRun& run, const OpenVisit& visit);

// The visit waits for a person from now on.
void AskPerson(Turn& turn, OpenRun& run, OpenVisit& visit, const ApproveAction& approve);

}  // namespace muster::engine
