#pragma once

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>
#include <variant>

#include "engine/command.hpp"

namespace muster::server {

// Brings plans of slots to the front of a queue that is too long to be taken at once; all else
// keeps its order behind them. When thousands of slots are due in one second, the reports of the
// first runs would otherwise hold up the starts of the last.
inline void BringSlotsFirst(std::deque<engine::AnyCommand>& queue) {
  const auto is_slot = [](const engine::AnyCommand& command) {
    return std::holds_alternative<engine::FireSlot>(command);
  };
  if (std::ranges::is_partitioned(queue, is_slot)) return;
  std::deque<engine::AnyCommand> slots;
  std::deque<engine::AnyCommand> others;
  for (auto& command : queue) (is_slot(command) ? slots : others).push_back(std::move(command));
  queue = std::move(slots);
  std::ranges::move(others, std::back_inserter(queue));
}

}  // namespace muster::server
