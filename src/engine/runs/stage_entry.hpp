#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/turn.hpp"

// Opening visits.
namespace muster::engine {

// How a stage is entered when not simply in its turn.
struct Entry {
  Visit from = {};                     // whose `switch` leads here
  std::optional<Ordinals> hosts = {};  // instead of those the stage itself would choose
  std::uint32_t batch = 0;             // to begin with
  std::uint32_t batch_hosts = 0;       // it has at most so many of the hosts; 0: as planned
  std::vector<Ordinals> begins = {};   // see StageVisit
};
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
