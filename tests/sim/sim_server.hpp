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
#include "sim/sim_store.hpp"

namespace muster::sim {

// The server's end of one connection, as the network sees it.
struct ServerPort {
  std::function<void(link::ServerFrame)> to_node;
  std::function<void()> close;
};

// A machine that runs the real pipeline, engine and intake. It can crash at any event and start
// again; its disks survive, its memory does not.
class SimServer final : public Links {
 public:
  SimServer(World& world, Truth& truth, DiskMood& mood);

  void Start();
  void Crash();
  bool Up() const { return process_ != nullptr; }

  // What `musterd backup --logs` takes; and the loss of the machine, then `musterd restore` of the
  // last backup on another one. Restore does nothing without a backup.
  void TakeBackup();
  void Restore();

  // The network. A link that opens while the server is down is refused (none).
  std::optional<LinkId> Open(std::string key, ServerPort port);
  void Receive(LinkId link, link::NodeFrame frame);
  void Closed(LinkId link);

  // A caller of the API. `answer` is called at most once; never when the server crashes first.
  using Answered = std::function<void(Result<engine::Answer>)>;
  template <typename Request>
  void Ask(Request request, Answered answer) {
    if (!Up()) return;
    const RequestId id(++next_request_);
    waiting_[id] = std::move(answer);
    request.caller.request = id;
    request.caller.name = "sim";
    Submit(std::move(request));
  }

  // From now on, no order may go to this key.
  void Forbid(const std::string& key) { forbidden_.insert(key); }

  Store& store() { return *view_; }  // reads of what is on disk, also while the server is down
  MemoryLogStore& log_disk() { return *log_disk_; }
  void JumpWall(std::int64_t ms) { wall_offset_ += ms; }
  // The true time at which a moment on the clock of `term`'s server comes.
  std::int64_t TrueTimeOf(Term term, link::ServerTime time) const {
    return time - mono_base_by_term_.at(term);
  }

  void Send(std::vector<Outgoing> frames) override;
  void Close(LinkId link) override;
  void BeginAnew(Term term) override;

 private:
  struct Process {
    SimStore store;
    SimLogStore logs;
    std::unique_ptr<engine::Pipeline> pipeline;
    std::unique_ptr<server::Intake> intake;
    std::deque<engine::Command> queue;
    std::uint64_t wake = 0;  // number of the latest planned wake-up
    bool alive = true;
  };
  struct Link {
    std::string key;
    ServerPort port;
    HostId host;
  };

  Now ReadClock() const;
  void Submit(engine::Command command);
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
