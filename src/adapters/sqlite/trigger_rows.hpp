#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "adapters/sqlite/database.hpp"
#include "ports/store.hpp"

// Reads of triggers and slots, as Store says; inside a transaction their caller opened.
namespace muster::sqlite {

Result<std::optional<Trigger>> ReadTrigger(Database& database, std::string_view name);
Result<std::vector<Trigger>> ReadTriggers(Database& database, std::string_view after,
                                          std::size_t limit);
Result<std::vector<Trigger>> ReadDueTriggers(Database& database, const DueCursor& after,
                                             std::int64_t until, std::size_t limit);
// The triggers that started one of the runs, by name.
Result<std::vector<Trigger>> ReadTriggersOf(Database& database,
                                            const std::vector<Snapshot::OpenRun>& runs);
// As last put. A store of before has none: then every row is looked at, once.
Result<TriggerCounts> ReadTriggerCounts(Database& database);
Result<std::vector<SlotRecord>> ReadSlots(Database& database, std::string_view trigger,
                                          const SlotFilter& filter,
                                          std::optional<SlotCursor> before, std::size_t limit);

}  // namespace muster::sqlite
