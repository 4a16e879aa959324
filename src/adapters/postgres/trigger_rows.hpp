#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/postgres/connection.hpp"
#include "ports/store.hpp"

// Reads of triggers and slots, as Store says.
namespace muster::postgres {

// The states that a trigger's row can be in, and the row of `meta` that counts each.
constexpr std::array kCountedStates = {TriggerState::kRunnable, TriggerState::kPaused,
                                       TriggerState::kComplete, TriggerState::kError};
std::string CounterOf(TriggerState state);

Result<ReadAt<std::optional<Trigger>>> ReadTrigger(Connection& connection, std::string_view name);
Result<std::vector<Trigger>> ReadTriggers(Connection& connection, std::string_view after,
                                          std::size_t limit);
Result<ReadAt<std::vector<Trigger>>> ReadDueTriggers(Connection& connection, const DueCursor& after,
                                                     std::int64_t until, std::size_t limit);
// The triggers that started one of the runs, by name.
Result<std::vector<Trigger>> ReadTriggersOf(Connection& connection,
                                            const std::vector<Snapshot::OpenRun>& runs);
// As last put; when nobody ever did, every row is looked at.
Result<TriggerCounts> ReadTriggerCounts(Connection& connection);
Result<std::vector<SlotRecord>> ReadSlots(Connection& connection, std::string_view trigger,
                                          const SlotFilter& filter,
                                          std::optional<SlotCursor> before, std::size_t limit);

}  // namespace muster::postgres
