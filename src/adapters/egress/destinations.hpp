#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "adapters/egress/places.hpp"
#include "base/instant.hpp"
#include "ports/server_actions.hpp"

namespace muster::outside {

// Where an action goes, for Destinations: the channel of a message, the host and port of a request;
// "" when its url cannot be read.
std::string DestinationOf(const ServerAction& action);

// Remembers of each destination when an action began there last, so that destinations take turns,
// and whether it was slow, so that those that never answer hold up no others. Bounded: what is not
// used for long is forgotten. For one thread at a time.
class Destinations {
 public:
  // A destination is slow when the last action there took so long, however it ended. One that was
  // cut off earlier says nothing.
  static constexpr Duration kSlow = std::chrono::seconds(5);
  static constexpr std::size_t kMost = 8'000;

  // An action waits to go there. A new destination has its turn behind all that are known.
  void Expect(const std::string& destination);
  void Begin(const std::string& destination);
  void End(const std::string& destination, Duration lasted, bool cut_off);

  bool IsSlow(const std::string& destination) const;
  // The lowest goes first.
  std::uint64_t TurnOf(const std::string& destination) const;

 private:
  struct Known {
    std::uint64_t turn = 0;
    bool slow = false;
  };
  Known& KnownOf(const std::string& destination);

  std::unordered_map<std::string, Known> known_;
  std::uint64_t next_turn_ = 1;
};

// Chooses the action that begins next: of those with a place, the one whose destination has its
// turn; of one destination, the one that was offered first.
class NextPlace {
 public:
  // `destinations` must outlive it, and stay as it is meanwhile.
  explicit NextPlace(const Destinations& destinations) : destinations_(destinations) {}

  void AddUnderWay(PlaceUse use, const std::string& destination);
  // Whether it goes before all that were offered so far.
  bool Offer(PlaceUse use, const std::string& destination);

 private:
  const Destinations& destinations_;
  std::vector<PlaceUse> under_way_;
  std::uint64_t best_ = UINT64_MAX;
};

}  // namespace muster::outside
