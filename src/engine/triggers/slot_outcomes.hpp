#pragma once

#include <string>
#include <string_view>

#include "engine/turn.hpp"

// How slots end. Each function moves the trigger's mark and puts what became of the slot on record,
// all in the turn's one commit.
namespace muster::engine {

// After the mark another schedule holds: that of a version, or none (0). On record for who reads
// the ledger later: it says which slots were due.
void NoteSchedule(Turn& turn, const TriggerEntry& entry, std::uint32_t version,
                  std::string_view detail);

// The slot is skipped. Neighbours that are skipped for the same reason share a row.
void Skip(Turn& turn, TriggerEntry& entry, WallTime slot, std::string_view why,
          std::string_view detail);

// Carries Trigger::settling out: its slots are counted, not visited one by one.
void Settle(Turn& turn, TriggerEntry& entry);

// Skips every slot up to a moment, however many; it takes time by the clock changes in between.
void SkipAll(Turn& turn, TriggerEntry& entry, WallTime until, std::string_view why,
             std::string_view detail);

struct NewSlotRun {
  Caller caller;  // for the audit trail
  const SlotPlan& plan;
  std::string reason = {};
  std::string remark = {};                 // as in StartNote
  std::vector<std::string> starters = {};  // as in Run
};
// The slot's run is made. `act`: a person asked for it (SlotRecord::act), and the mark stays.
OpenRun& Start(Turn& turn, TriggerEntry& entry, WallTime slot, std::uint64_t act, NewSlotRun made);

}  // namespace muster::engine
