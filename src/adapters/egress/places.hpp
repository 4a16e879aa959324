#pragma once

#include <span>
#include <string_view>

#include "domain/ids.hpp"
#include "domain/task.hpp"
#include "ports/server_actions.hpp"

namespace muster::outside {

// What an action needs a place for.
struct PlaceUse {
  RunId run;
  std::string_view channel = {};  // that a message goes to; "" is a request
  bool slow = false;              // its destination was slow the last time

  bool IsMessage() const noexcept { return !channel.empty(); }
};
// Points into the action.
PlaceUse UseOf(const TaskKey& task, const ServerAction& action);

// Whether there is a place for one more beside those under way, as ServerActions has it.
bool HasPlace(std::span<const PlaceUse> under_way, const PlaceUse& next);

}  // namespace muster::outside
