#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.hpp"
#include "link/backoff.hpp"

namespace muster::link {

// Which server of its cluster a node connects to next, and when. Pure: the driver says what
// happened, with the time and a random number. Not thread-safe.
//
// Each node tries them in an order of its own, by a stable hash of its `seed` and their addresses:
// so a fleet spreads evenly, and where a server goes or comes only its share moves. There is no
// home to come back to: a node stays where it is welcome until it loses that link. Then it goes to
// the next at once; only when all have failed in turn does it wait, for a time that grows.
class ServerChoice {
 public:
  // `given` are the addresses it was started with, at least one; `told` those a server named last.
  // Those told come first, the others after them, in case none of those can be reached any more.
  ServerChoice(std::string seed, std::vector<std::string> given,
               std::vector<std::string> told = {});

  // The one that is connected to, or to be tried next.
  const std::string& Current() const noexcept { return current_; }
  std::size_t Count() const noexcept { return order_.size(); }

  // Whether there are servers that have not been tried since the node was last welcome for a while.
  // A server that can do nothing for it may send it there; after a whole round it is better off
  // where it is.
  bool HasOthers() const noexcept { return !went_round_ && failures_ + 1 < order_.size(); }

  // A server named these. True when that is news, which the driver keeps; none is none. A link that
  // is open stays, also when its server is not among them.
  bool Told(std::vector<std::string> servers);

  // The current one welcomed the node; `now` is the node's boottime clock, ms.
  void Welcomed(std::int64_t now);

  // There is no link to the current one (any more): it could not be reached, refused the node, was
  // lost or said goodbye. From now on Current() is the next; returns how long to wait before it is
  // tried. `random` is uniform over all 64 bits.
  Duration Lost(std::int64_t now, std::uint64_t random);

 private:
  void Arrange();

  const std::string seed_;
  const std::vector<std::string> given_;
  std::vector<std::string> told_;   // sorted
  std::vector<std::string> order_;  // each once
  std::string current_;
  Backoff backoff_;
  std::size_t failures_ = 0;  // in a row
  bool went_round_ = false;   // all have failed since the last welcome that lasted
  std::optional<std::int64_t> welcomed_;
};

}  // namespace muster::link
