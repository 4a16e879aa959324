#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/runs/stage_entry.hpp"
#include "engine/turn.hpp"

// Where a retry begins.
namespace muster::engine {

// Where a pass begins, and with whom.
struct Beginning {
  std::uint32_t stage = 0;
  Entry entry;
  bool others = false;                   // hosts that failed elsewhere go on, too
  Ordinals later = {};                   // these hosts
  std::vector<std::string> around = {};  // names of approvals that it surely leaves out
};

// Where the pass that `command` asks for begins, by the plan the run has. kConflict: there is
// nothing to repeat.
Result<Beginning> FindBeginning(const OpenRun& run, const RetryRun& command);

// A stage of the main list of a plan.
Result<std::uint32_t> MainStageNamed(const RunSpec& plan, const std::string& name);

// The hosts that take part in the pass, and those that its first stage will be entered with.
Ordinals HostsOf(const OpenRun& run, const Beginning& beginning);
Ordinals FirstHosts(const OpenRun& run, const Beginning& beginning);
// The latter, and those that join in a later stage.
Ordinals HostsOfPass(const OpenRun& run, const Beginning& beginning);

}  // namespace muster::engine
