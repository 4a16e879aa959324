#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/pipeline.hpp"
#include "server/gateway/intake.hpp"
#include "server/gateway/output_bounds.hpp"
#include "sim/servers.hpp"
#include "sim/sim_store.hpp"

namespace muster::sim {

// A machine that runs the real pipeline, engine and intake. It can crash at any event and start
// again; its disks survive, its memory does not.
class SimServer final : public Links, public Servers {
 public:
  SimServer(World& world, Truth& truth, DiskMood& mood);

  void Start();
  void Crash();
  bool Up() const { return process_ != nullptr; }

  // What `musterd backup --logs` takes; and the loss of the machine, then `musterd restore` of the
  // last backup on another one. Restore does nothing without a backup.
  void TakeBackup();
  void Restore();

  std::optional<LinkId> Open(std::string key, ServerPort port) override;
  void Receive(LinkId link, link::NodeFrame frame) override;
  void Closed(LinkId link) override;
  void Forbid(const std::string& key) override { forbidden_.insert(key); }
  Store& store() override { return *view_; }
  MemoryLogStore& log_disk() override { return *log_disk_; }
  std::int64_t Begins(const link::Order& order) override {
    return order.start_by - mono_base_by_term_.at(order.term);
  }

  void JumpWall(std::int64_t ms) { wall_offset_ += ms; }

  void Send(std::vector<Outgoing> frames) override;
  void Close(LinkId link) override;
  void BeginAnew(Term term, const std::string& cluster) override;

 private:
  struct Process {
    SimStore store;
    SimLogStore logs;
    std::unique_ptr<engine::Pipeline> pipeline;
    std::unique_ptr<server::Intake> intake;
    std::deque<engine::AnyCommand> queue;
    std::uint64_t wake = 0;  // number of the latest planned wake-up
    bool alive = true;
  };
  struct Link {
    std::string key;
    ServerPort port;
    HostId host;
    server::OutputBounds bounds = {};
  };

  void AskAs(MakeCommand make, Answered answer) override;
  Now ReadClock() const;
  void Submit(engine::AnyCommand command);
  void Drive();
  void TryToLead();
  void CarryOut(const engine::ServerOrder& order, std::function<bool()> alive);
  void SendFrame(LinkId link, link::ServerFrame frame);

  World& world_;
  Truth& truth_;
  DiskMood& mood_;
  std::shared_ptr<MemoryDisk> disk_ = MakeMemoryDisk();
  std::shared_ptr<MemoryLogStore> log_disk_ = std::make_shared<MemoryLogStore>();
  struct Backup {
    std::shared_ptr<MemoryDisk> records;
    std::shared_ptr<MemoryLogStore> logs;
    WallTime taken;
    std::set<std::string> forbidden;
  };
  std::optional<Backup> backup_;
  std::unique_ptr<MemoryStore> view_;
  std::shared_ptr<Process> process_;
  std::vector<std::shared_ptr<Process>> dead_;  // events on their way still point at them
  std::map<LinkId, Link> links_;
  std::map<RequestId, Answered> waiting_;
  std::set<std::string> forbidden_;
  std::int64_t restores_ = 0;
  std::uint64_t next_link_ = 0;
  std::uint64_t next_request_ = 0;
  std::int64_t mono_base_ = 1'000'000;
  std::int64_t wall_offset_ = 1'800'000'000'000;
  std::map<Term, std::int64_t> mono_base_by_term_;
};

}  // namespace muster::sim
