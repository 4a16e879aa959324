#include "adapters/egress/destinations.hpp"

#include <variant>

#include <fmt/format.h>

#include "adapters/egress/url.hpp"

namespace muster::outside {

std::string DestinationOf(const ServerAction& action) {
  if (const auto* message = std::get_if<ChannelMessage>(&action.what))
    return "channel " + message->channel.name;
  const auto* condition = std::get_if<ConditionAction>(&action.what);
  const HttpAction& http =
      condition != nullptr ? condition->request : std::get<HttpAction>(action.what);
  const auto url = ParseUrl(http.url);
  return url ? fmt::format("{}:{}", url->host, url->port) : "";
}

Destinations::Known& Destinations::KnownOf(const std::string& destination) {
  const auto found = known_.find(destination);
  if (found != known_.end()) return found->second;
  // No two have the same turn, so half of them stay at most.
  if (known_.size() >= kMost)
    std::erase_if(known_,
                  [&](const auto& one) { return one.second.turn + kMost / 2 < next_turn_; });
  return known_.try_emplace(destination, Known{.turn = next_turn_++}).first->second;
}

void Destinations::Expect(const std::string& destination) { KnownOf(destination); }

void Destinations::Begin(const std::string& destination) {
  KnownOf(destination).turn = next_turn_++;
}

void Destinations::End(const std::string& destination, Duration lasted, bool cut_off) {
  if (lasted >= kSlow || !cut_off) KnownOf(destination).slow = lasted >= kSlow;
}

bool Destinations::IsSlow(const std::string& destination) const {
  const auto found = known_.find(destination);
  return found != known_.end() && found->second.slow;
}

std::uint64_t Destinations::TurnOf(const std::string& destination) const {
  const auto found = known_.find(destination);
  return found == known_.end() ? 0 : found->second.turn;
}

void NextPlace::AddUnderWay(PlaceUse use, const std::string& destination) {
  use.slow = destinations_.IsSlow(destination);
  under_way_.push_back(use);
}

bool NextPlace::Offer(PlaceUse use, const std::string& destination) {
  const std::uint64_t turn = destinations_.TurnOf(destination);
  if (turn >= best_) return false;
  use.slow = destinations_.IsSlow(destination);
  if (!HasPlace(under_way_, use)) return false;
  best_ = turn;
  return true;
}

}  // namespace muster::outside
