#pragma once

#include <cstdint>
#include <optional>
#include <set>
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
// the next at once; only when a round of them has failed does it wait, for a time that grows.
//
// A round has every server that is tested (given, or welcomed the node before) and at most
// kUntested of the others; the next round has other ones of those. So wrong addresses, however many
// a node was told, keep it for moments from a server that works.
class ServerChoice {
 public:
  static constexpr std::size_t kUntested = 3;

  // `given` are the addresses it was started with, at least one; `told` those a server named last;
  // `welcome` those that welcomed the node in an earlier life, the last one first. Those told come
  // first, then those given and the last one that welcomed the node, in case none of those told can
  // be reached any more.
  ServerChoice(std::string seed, std::vector<std::string> given, std::vector<std::string> told = {},
               std::vector<std::string> welcome = {});

  // The one that is connected to, or to be tried next.
  const std::string& Current() const noexcept { return current_; }
  std::size_t Count() const noexcept { return order_.size(); }  // in this round
  // Whether the current one was given, or welcomed the node before.
  bool Tested() const { return IsTested(current_); }

  // Whether there are servers that have not been tried since the node was last welcome for a while.
  // A server that can do nothing for it may send it there; after a whole round it is better off
  // where it is.
  bool HasOthers() const noexcept { return !went_round_ && failures_ + 1 < order_.size(); }

  // A server named these. True when that is news, which the driver keeps; none is none. A link that
  // is open stays, also when its server is not among them.
  bool Told(std::vector<std::string> servers);

  // The current one welcomed the node; `now` is the node's boottime clock, ms. True when another
  // one did so last, which the driver keeps.
  bool Welcomed(std::int64_t now);

  // There is no link to the current one (any more): it could not be reached, refused the node, was
  // lost or said goodbye. From now on Current() is the next; returns how long to wait before it is
  // tried. `random` is uniform over all 64 bits.
  Duration Lost(std::int64_t now, std::uint64_t random);

 private:
  void Arrange();
  bool IsTested(const std::string& server) const;
  void NextRound();

  const std::string seed_;
  const std::vector<std::string> given_;
  std::vector<std::string> told_;   // sorted
  std::set<std::string> welcome_;   // they welcomed the node
  std::string last_;                // the last of them; "" when there is none
  std::vector<std::string> order_;  // of this round, each once
  std::size_t untested_from_ = 0;   // the first of the untested ones that is in this round
  std::string current_;
  Backoff backoff_;
  std::size_t failures_ = 0;  // in a row
  bool went_round_ = false;   // all have failed since the last welcome that lasted
  std::optional<std::int64_t> welcomed_;
};

}  // namespace muster::link
