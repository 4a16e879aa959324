#include "adapters/egress/places.hpp"

#include <algorithm>

namespace muster::outside {

PlaceUse UseOf(const TaskKey& task, const ServerAction& action) {
  PlaceUse use{.run = task.run};
  if (const auto* message = std::get_if<ChannelMessage>(&action.what))
    use.channel = message->channel.name;
  return use;
}

bool HasPlace(std::span<const PlaceUse> under_way, const PlaceUse& next) {
  if (under_way.size() >= ServerActions::kAtOnce) return false;
  const auto count = [&](auto holds) {
    return static_cast<std::size_t>(std::ranges::count_if(under_way, holds));
  };
  if (next.slow && count([](const PlaceUse& use) { return use.slow; }) >= ServerActions::kForSlow)
    return false;
  // A message about a trigger has no run.
  const std::size_t of_run = count([&](const PlaceUse& use) {
    return use.run && use.run == next.run && use.IsMessage() == next.IsMessage();
  });
  if (of_run >= ServerActions::kAtOnceOfRun) return false;
  if (next.IsMessage())
    return count([&](const PlaceUse& use) { return use.channel == next.channel; }) <
           ServerActions::kAtOnceOfChannel;
  return count([](const PlaceUse& use) { return !use.IsMessage(); }) <
         ServerActions::kAtOnce - ServerActions::kForMessages;
}

}  // namespace muster::outside
