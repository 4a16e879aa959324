#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/instant.hpp"
#include "base/result.hpp"
#include "domain/host.hpp"

namespace muster {

// A server as it tells the others of its cluster about itself.
struct Member {
  std::string name;  // unique in the cluster
  std::string url;   // where other servers and nodes reach it
  std::string version = {};
  Labels labels = {};  // region, zone
  std::uint64_t links = 0;
  bool draining = false;
  std::string unfit = {};    // why it can neither lead nor take nodes; "" when it can
  std::string trouble = {};  // what else is wrong with it, in words; "" when nothing is

  friend bool operator==(const Member&, const Member&) = default;
};

// Says who may try to lead, and who is there. Election only says who may try: the term comes from
// the store. Safe from any thread; nothing blocks for longer than the service's own time-out.
class Coordinator {
 public:
  virtual ~Coordinator() = default;

  // Asks to lead, from now until Resign, also over times when the service is out of reach.
  // `elected` is called when this server may try, `lost` when it must have stopped acting, in turns
  // and never two at once; after `lost` it is a candidate again. Neither is called after Resign
  // returned. kConflict when already campaigning.
  virtual Result<> Campaign(std::string name, std::function<void()> elected,
                            std::function<void()> lost) = 0;

  // Gives up the campaign or the leadership; another candidate may be elected at once.
  virtual void Resign() = 0;

  // Until when this server may act as the leader, by the monotonic clock: before that moment no
  // other candidate is elected, whatever happens to this server or its network. Moves ahead as the
  // leadership is renewed. kNever when nobody can take it away; zero when it does not lead.
  virtual MonoTime LeadUntil() const = 0;

  // Who leads, as last heard; "" when nobody does.
  virtual std::string Leader() const = 0;

  // Lists this server among the members until it is gone, or replaces what it said before. Kept up
  // from then on, also over times when the service is out of reach.
  virtual void Announce(Member self) = 0;

  // As last heard, by name.
  virtual std::vector<Member> Members() const = 0;

  // `changed` is called, from any thread, after the leader or the members changed. Set once, before
  // Campaign and Announce.
  virtual void OnChange(std::function<void()> changed) = 0;

  // Why the service cannot be asked at the moment; "" when it can.
  virtual std::string Trouble() const = 0;
};

}  // namespace muster
