#pragma once

#include "sim/cluster/sim_cluster.hpp"
#include "sim/servers.hpp"
#include "sim/world.hpp"

namespace muster::sim {

// What happens to the servers of a cluster, and to what lies between them, their coordinator and
// their store. It mostly befalls whoever leads.
class ClusterFaults final : public ServerFaults {
 public:
  ClusterFaults(World& world, SimCluster& cluster) : world_(world), cluster_(cluster) {}

  void Begin() override;
  void Plan(std::int64_t) override {}
  bool Breaks() override { return world_.Chance(0.65); }
  void Break() override;
  void Replace() override { Crash(Some()); }
  // Everything is mended, except that a server in the minority may stay down.
  void Mend() override;
  // Exactly one leads.
  void CheckEnd() override;

 private:
  std::size_t Some();
  void Crash(std::size_t i);
  void Freeze(std::size_t i);
  void Isolate(std::size_t i, bool coordinator, bool store, bool peers);
  void LoseCoordinator();
  void IllCoordinator(std::size_t i);
  void IllStore(std::size_t i);
  void IllPeers();
  void LateFollowers();
  void JumpWall(std::size_t i);

  World& world_;
  SimCluster& cluster_;
  std::uint64_t era_ = 0;  // grows with Mend: what was to end later has ended
};

}  // namespace muster::sim
