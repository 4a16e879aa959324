#include "server/assembly/trigger_planner.hpp"

#include <algorithm>

namespace muster::server {
namespace {

// Slots that are due together often share a job, which is read once for so many of them; more of
// them keep several workers busy.
constexpr std::size_t kTogether = 250;

}  // namespace

void TriggerPlanner::Prepare(std::vector<engine::PrepareSlot> slots) {
  for (std::size_t begin = 0; begin < slots.size(); begin += kTogether) {
    const std::size_t end = std::min(begin + kTogether, slots.size());
    std::vector<engine::PrepareSlot> part(slots.begin() + static_cast<std::ptrdiff_t>(begin),
                                          slots.begin() + static_cast<std::ptrdiff_t>(end));
    workers_.Post(
        [this, part = std::move(part)] {
          SlotPlanner planner(inventory_, [this] { return engine_.GetStatus().freezes; });
          for (const auto& slot : part)
            engine_.Submit(engine::FireSlot{.trigger = slot.trigger,
                                            .version = slot.version,
                                            .slot = slot.slot,
                                            .act = slot.act,
                                            .plan = planner.Plan(slot)});
        },
        "plan slots");
  }
}

void TriggerPlanner::Fetch(std::vector<engine::FetchTriggers> fetches) {
  for (const auto& fetch : fetches)
    workers_.Post(
        [this, fetch] {
          auto found = inventory_.store.DueTriggers(fetch.after, fetch.until, fetch.limit);
          if (!found) return;  // asked again
          const bool more = found->value.size() == fetch.limit;
          engine_.Submit(engine::TakeTriggers{.after = fetch.after,
                                              .until = fetch.until,
                                              .found = std::move(*found),
                                              .more = more});
        },
        "read triggers");
}

}  // namespace muster::server
