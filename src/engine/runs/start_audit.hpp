#pragma once

#include <string>

#include "engine/turn.hpp"

namespace muster::engine {

// What a start says for the audit trail beyond what the run itself holds.
struct StartNote {
  std::string reason = {};  // in the caller's words
  std::string names = {};   // of the targets, folded; "" when they are to be folded here
  std::string remark = {};  // added to the sentence, with its own punctuation
};

// The entry of a run that is being created: who, what, with what, on which hosts, and for which
// trigger or parent run. Of every run, before anything is done for it: entries of runs are in the
// order of the runs' numbers, which readers by host rely on.
void AuditStart(Turn& turn, const Caller& caller, const OpenRun& run, StartNote note);

// What the audit trail calls it: "job kernel version 3", "script", "push". Not the title, which the
// caller chooses.
std::string WorkOf(const RunSpec& plan);

}  // namespace muster::engine
