#pragma once

#include "engine/runs/start_audit.hpp"
#include "engine/turn.hpp"

namespace muster::engine {

void Decide(Turn& turn, const StartRun& command);

struct NewRun {
  Caller caller;  // who starts it; for a child run: whom its parent runs for
  RunSpec spec;
  std::shared_ptr<const Targets> targets;
  StartNote note = {};
  RunId parent = {};  // the run and visit that start it
  Visit parent_visit = {};
  bool guarded = false;      // as in Run
  std::string trigger = {};  // that starts it, and for which slot
  WallTime slot = {};
  std::string trace_parent = {};
  std::vector<std::string> starters = {};  // as in Run
};
// Makes a run, puts its start on the audit trail and enters its first stage.
OpenRun& CreateRun(Turn& turn, NewRun made);

// Settles how much output each host may have where the plan leaves that to the run. A run pins what
// it started with, and no order goes out with less than a number.
void SettleOutput(Run& run);

// As at the start: no stage entered yet.
void ResetProgress(Run& run);

}  // namespace muster::engine
