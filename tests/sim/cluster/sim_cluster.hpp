#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/peers/cut_off.hpp"
#include "sim/cluster/ledger.hpp"
#include "sim/cluster/sim_engine.hpp"
#include "sim/cluster/sim_peers.hpp"
#include "sim/servers.hpp"
#include "sim/sim_store.hpp"

namespace muster::sim {

class SimCluster;

// One life of a server program, from its start to its crash.
class SimMusterd {
 public:
  struct Machine {
    std::string name;
    SimClock clock;
    DiskMood disk;
    SeatMood seat;
    std::int64_t late = 0;  // ms that it sits on what its nodes say before it tells the leader
  };
  SimMusterd(World& world, Truth& truth, SimCluster& cluster, Machine& machine);

  void Start();
  void Crash();

  Life& life() { return life_; }
  SimGateway& gateway() { return gateway_; }
  SimFollowers& followers() { return followers_; }
  const SimEngine& engine() const { return engine_; }

  // A request of the API; `passed_on` by another server, so it goes no further.
  void Ask(const SimEngine::MakeCommand& make, Servers::Answered answer, bool passed_on);

 private:
  void EndedHere();
  void Submit(engine::AnyCommand command);
  bool Leads() const { return seat_.LeadUntil() > MonoTime{0}; }
  void WatchWay();
  server::CutOff::Sees LookAround(MonoTime now) const;

  SimCluster& cluster_;
  Machine& machine_;
  Life life_;
  SimStore store_;
  SimLogStore logs_;
  SimSeat seat_;
  SimGateway gateway_;
  SimFollowers followers_;
  SimLeaderLink leader_link_;
  SimEngine engine_;
  server::CutOff way_to_leader_;
};

// Several servers with a store and a coordinator that they share. Hosts and callers come to any of
// them.
class SimCluster final : public Servers {
 public:
  SimCluster(World& world, Truth& truth, int servers);

  std::size_t Count() const { return machines_.size(); }
  SimMusterd::Machine& machine(std::size_t i) { return *machines_[i]; }
  SimMusterd* program(std::size_t i) { return programs_[i]; }  // none while it is down
  void StartServer(std::size_t i);
  void CrashServer(std::size_t i);
  PeerMood& Between(std::size_t i, std::size_t j);

  std::optional<LinkId> Open(std::string key, ServerPort port) override;
  void Receive(LinkId link, link::NodeFrame frame) override;
  void Closed(LinkId link) override;
  void Forbid(const std::string& key) override { ledger_.Forbid(key); }
  Store& store() override { return view_; }
  MemoryLogStore& log_disk() override { return *log_disk_; }
  std::int64_t Begins(const link::Order& order) override { return ledger_.Begins(order); }

  // For servers among themselves.
  std::optional<SimLeaderLink::Way> Dial(const std::string& from, const std::string& to,
                                         Life follower,
                                         std::function<void(server::LeaderItem)> at_follower,
                                         std::function<void()> closed);
  void PassOn(const std::string& from, const std::string& to, const SimEngine::MakeCommand& make,
              Answered answer);

  World& world() { return world_; }
  SimCoordinator& coordinator() { return coordinator_; }
  Ledger& ledger() { return ledger_; }
  SimStore::Hanging& hanging() { return hanging_; }
  const std::shared_ptr<MemoryDisk>& disk() const { return disk_; }
  const std::shared_ptr<MemoryLogStore>& logs() const { return log_disk_; }

 private:
  void AskAs(MakeCommand make, Answered answer) override;
  std::size_t IndexOf(const std::string& name) const;
  SimMusterd* Holder(LinkId link);

  World& world_;
  Truth& truth_;
  SimCoordinator coordinator_;
  Ledger ledger_;
  std::shared_ptr<MemoryDisk> disk_ = MakeMemoryDisk();
  std::shared_ptr<MemoryLogStore> log_disk_ = std::make_shared<MemoryLogStore>();
  MemoryStore view_;
  SimStore::Hanging hanging_;
  std::vector<std::unique_ptr<SimMusterd::Machine>> machines_;
  std::vector<SimMusterd*> programs_;
  std::vector<std::unique_ptr<SimMusterd>> lives_;  // also past ones: events still point at them
  std::vector<PeerMood> peers_;                     // of each pair
  std::map<LinkId, SimMusterd*> holders_;
  std::uint64_t next_link_ = 0;
};

}  // namespace muster::sim
