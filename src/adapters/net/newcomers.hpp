#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "adapters/net/asio.hpp"

namespace muster::net {

struct NewcomerSource;

using NewcomerHook = boost::intrusive::list_base_hook<boost::intrusive::tag<struct NewcomerTag>>;

// A connection without a first request, as Newcomers sees it.
class Newcomer : public NewcomerHook {
 public:
  enum class State {
    kNone,
    kSilent,   // has not sent a byte
    kWaiting,  // has sent one and waits for a place
    kInside,   // has a place: its handshake and first request may begin
  };

  virtual ~Newcomer() = default;
  virtual void Enter() = 0;    // it has a place now
  virtual void GiveWay() = 0;  // closes at once; it was silent or waiting
  State state() const { return state_; }

 private:
  friend class Newcomers;
  NewcomerSource* source_ = nullptr;  // while it is one
  State state_ = State::kNone;
};

// The newcomers of one address; in order of arrival.
struct NewcomerSource {
  using List = boost::intrusive::list<Newcomer, boost::intrusive::base_hook<NewcomerHook>>;

  std::size_t Outside() const { return silent.size() + waiting.size(); }

  std::string name = {};
  List silent = {};
  List waiting = {};
  std::size_t inside = 0;
  std::uint64_t turn = 0;  // when it was last let in
  bool newest_is_next = false;
};

// Connections without a first request, by the address they come from (ConnectionSourceOf). `places`
// of them are inside at a time, as a handshake costs processor time and memory. A free place goes
// to the address with the fewest inside, so one address is held back only while another one waits.
// Silent ones need no place. Owns nobody. Every call is O(log addresses).
class Newcomers {
 public:
  explicit Newcomers(std::size_t places);
  Newcomers(const Newcomers&) = delete;
  Newcomers& operator=(const Newcomers&) = delete;

  void Came(Newcomer& newcomer, const std::string& source);  // is silent now
  void Spoke(Newcomer& newcomer);                            // is waiting now
  void Left(Newcomer& newcomer);                             // from any state

  // The next that may enter; it is inside now. Null when there is none. While all places are taken
  // an address below its share (places by the number of addresses, at least one) still gets one
  // beyond them, up to twice the places. Of one address the oldest and the newest take turns:
  // behind thousands of connections that never go on, a client would wait in vain for its turn.
  Newcomer* Next();

  // Who gives way to a new connection of `source` when there is no room for another: of the address
  // with the most outside the oldest silent one, otherwise the last that began to wait. Null when
  // `source` itself has the most and none of them is silent.
  Newcomer* ToGiveWay(const std::string& source);

  std::size_t size() const { return size_; }
  std::size_t waiting() const { return waiting_; }

  // Whether this one has less time than usual: a silent one while there are more newcomers than
  // places, one inside while another waits. One that waits is held back by the server itself.
  bool HurriesUp(const Newcomer& newcomer) const;

  // For the log: the address that has the most outside, and how many it has in all. "" and 0 when
  // all are inside.
  std::pair<std::string, std::size_t> Largest() const;

 private:
  // Sources in order of how many they have, and among equals of when they were last let in.
  struct Rank {
    std::size_t count;
    std::uint64_t turn;
    NewcomerSource* source;
    auto operator<=>(const Rank&) const = default;
  };

  template <typename Change>
  void Update(NewcomerSource& source, Change change);
  void Detach(Newcomer& newcomer);

  const std::size_t places_;
  std::size_t size_ = 0;
  std::size_t waiting_ = 0;
  std::size_t inside_ = 0;
  std::uint64_t next_turn_ = 0;
  std::unordered_map<std::string, NewcomerSource> sources_;
  std::set<Rank> by_inside_;   // sources with one that waits
  std::set<Rank> by_outside_;  // sources with one that is silent or waits
};

}  // namespace muster::net
