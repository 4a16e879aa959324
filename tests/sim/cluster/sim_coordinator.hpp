#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/instant.hpp"
#include "sim/world.hpp"

namespace muster::sim {

// The service that elects: leases which end by its own clock, one leader's key, a list of members.
// Every call is the moment a request arrives there.
class SimCoordinator {
 public:
  using Lease = std::uint64_t;
  static constexpr Duration kTtl = std::chrono::seconds(2);

  explicit SimCoordinator(World& world) : world_(world) {}

  struct View {
    std::uint64_t revision = 0;
    std::string leader;  // "": nobody
    Lease leader_lease = 0;
    std::vector<std::string> members;  // by name
  };

  Lease Grant(const std::string& name);
  bool KeepAlive(Lease lease);  // false: it has ended
  // True when this lease holds the leader's key now.
  bool Claim(Lease lease);
  void Resign(Lease lease);
  void Revoke(Lease lease);
  View Look() const;

  // `changed` is called at each change, there and then; how long the news travels is its business.
  void Watch(std::function<void()> changed) { watchers_.push_back(std::move(changed)); }

  // For checkers: the true time at which this lease lost the leader's key, or ended without it;
  // the far future while it lives.
  std::int64_t EndOf(Lease lease) const {
    const auto found = ended_.find(lease);
    return found == ended_.end() ? std::numeric_limits<std::int64_t>::max() : found->second;
  }

 private:
  struct Held {
    std::string name;
    std::int64_t ends = 0;  // true time
  };
  void Prolong(Lease lease);
  void End(Lease lease);
  void Changed();

  World& world_;
  std::map<Lease, Held> leases_;
  std::map<Lease, std::int64_t> ended_;
  Lease leader_ = 0;
  Lease last_ = 0;
  std::uint64_t revision_ = 1;
  std::vector<std::function<void()>> watchers_;
};

}  // namespace muster::sim
