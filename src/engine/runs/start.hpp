#pragma once

#include "engine/turn.hpp"

namespace muster::engine {

void Decide(Turn& turn, const StartRun& command);

struct NewRun {
  std::string by;
  RunSpec spec;
  std::shared_ptr<const Targets> targets;
  RunId parent = {};  // the run and visit that start it
  Visit parent_visit = {};
  std::string trigger = {};  // that starts it, and for which slot
  WallTime slot = {};
  std::string trace_parent = {};
  std::vector<std::string> starters = {};  // as in Run
};
// Makes a run and enters its first stage.
OpenRun& CreateRun(Turn& turn, NewRun made);

// What the audit trail calls it: "job kernel version 3", "script", "push". Not the title, which the
// caller chooses.
std::string WorkOf(const RunSpec& plan);

// As at the start: no stage entered yet.
void ResetProgress(Run& run);

}  // namespace muster::engine
