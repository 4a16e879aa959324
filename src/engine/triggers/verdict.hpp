#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/turn.hpp"

// What is to become of a slot that is due. Asked when it comes due and once more in the commit that
// would start it, on what is durable then.
namespace muster::engine {

struct Verdict {
  enum class Kind : std::uint8_t { kStart, kSkip, kWait } kind = Kind::kStart;
  std::string_view why = {};  // of kSkip
  std::string detail = {};
};

// The first slot after the mark. With `overlap: replace` the runs in its way are stopped here.
Verdict Judge(Turn& turn, const TriggerEntry& entry, WallTime slot);

// Slots that nobody could start in time: chooses those to make up for (Trigger::seen) and begins to
// settle the others. False when there is nothing to choose.
bool ChooseMissed(Turn& turn, TriggerEntry& entry);

// The first slot waits: those that came due behind it wait too, up to a number; past that the
// oldest are skipped. Returns when to look again.
WallTime Queue(Turn& turn, TriggerEntry& entry, WallTime slot);

// How many runs of the trigger may be open at once.
std::uint32_t AllowedRuns(const TriggerSpec& spec);

}  // namespace muster::engine
