#pragma once

#include "engine/turn.hpp"

// Triggers follow their documents.
namespace muster::engine {

// Before anything of a command is decided: whether its look-ups still hold.
Result<> CheckTriggers(Turn& turn, const ApplyDocuments& command);

// A new or changed document. The life of the trigger stays; slots of an old schedule that are due
// and undecided are skipped, and the new one begins now. A new one may begin paused, by `by`.
void ApplyTrigger(Turn& turn, const AppliedTrigger& applied, const DocumentHead& head,
                  const std::string& by);

// Which version of its document is the latest, as its row says; version 0: there was none yet.
DocumentHead TriggerHead(Turn& turn, const std::string& name, const AppliedTrigger& applied);

// Its document is gone: whatever was due is on record as skipped, open runs go on.
void DropTriggerOf(Turn& turn, const std::string& name, const AppliedTrigger& applied);

}  // namespace muster::engine
