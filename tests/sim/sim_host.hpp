#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "link/backoff.hpp"
#include "link/node.hpp"
#include "sim/servers.hpp"
#include "sim/truth.hpp"
#include "sim/world.hpp"

namespace muster::sim {

// How ill the network behaves just now.
struct NetMood {
  std::int64_t usual = 5;  // ms one way
  std::int64_t rare = 3000;
};

// A machine with an agent: the real link state machine over a pretended disk, processes and
// network. The agent can crash while its tasks go on, the machine can reboot or lose power, the
// disk can be wiped or copied to another machine.
class SimHost {
 public:
  SimHost(World& world, Truth& truth, Servers& server, const NetMood& net, std::string name);

  // Faults.
  void CrashAgent();
  void StartAgent();
  void PowerLoss();  // reboots; files written in the last moments may be gone
  void Reimage();    // an empty disk and a new key; joins again
  void CutLink();
  std::unique_ptr<SimHost> Clone();  // a second machine with a copy of the disk and the key
  void TakeSnapshot() {
    if (disk_.joined) snapshot_ = disk_;
  }
  void PutSnapshotBack();  // the machine as it was, booted again; nothing without a snapshot

  // Joins (again) under its name; tries until the server answers.
  void Join(std::function<void()> joined);
  void UseInvite(std::string id) { invite_ = std::move(id); }  // for the next join

  bool Joined() const { return disk_.joined; }
  bool AgentUp() const { return node_ != nullptr; }
  bool Welcomed() const { return node_ && node_->Welcomed(); }
  std::size_t Holding() const { return disk_.tasks.size(); }
  std::size_t Alive() const { return alive_.size(); }
  // Something runs that goes on for so many ms at least, when nobody ends it.
  bool WorksFor(std::int64_t ms) const;
  std::set<RunId> RunsAtWork() const;
  // Nothing runs for long in spite of a stop, as the host hears its server.
  void CheckStopped() const;
  // Needs a person: revoked, or its join was lost with a restore.
  bool Refused() const { return revoked_ || unknown_; }
  bool IsCopy() const { return copy_; }  // refused as one; it may be taken back by itself
  const std::string& name() const { return name_; }

 private:
  struct DiskTask {
    link::Order order;
    std::optional<TaskEnd> end;
    std::string output;
    std::string boot;
    std::int64_t written = 0;
    bool started = false;
  };
  // What survives the agent, and a reboot.
  struct Disk {
    std::string store;
    std::string key;
    bool joined = false;
    std::uint64_t session = 0;
    Term term;
    Term welcomed;  // the newest term that reached it, whatever the agent made of it
    std::map<TaskKey, DiskTask> tasks;
  };
  struct Wire {
    LinkId link;
    bool up = true;  // as this end sees it
    bool delivering = true;
    std::int64_t to_server_at = 0;
    std::int64_t to_node_at = 0;
  };

  std::int64_t BootNow() const { return world_.Now() + mono_base_; }
  void NewBoot();
  void Connect();
  void KeepJournal();
  void Disconnect(bool reconnect);
  void Reconnect();
  void DeliverToNode(const std::shared_ptr<Wire>& wire, link::ServerFrame frame);
  void Impersonate(link::Welcome welcome);
  void SendToServer(const std::shared_ptr<Wire>& wire, link::NodeFrame frame);
  void CarryOut(link::Node::Actions actions);
  void StartTask(const link::Order& order);
  bool IsAlive(const TaskKey& task, const std::string& boot) const {
    const auto found = alive_.find(task);
    return found != alive_.end() && found->second.boot == boot;
  }
  std::int64_t LifeOf(const Command& command);
  void Speak(const TaskKey& task, int pieces_left, std::int64_t life);
  void EndProcess(const TaskKey& task, TaskState state, int exit_code);
  void Flush();
  void Beat();

  World& world_;
  Truth& truth_;
  Servers& server_;
  const NetMood& net_;
  std::string name_;
  std::string boot_;
  std::int64_t mono_base_ = 0;
  Disk disk_;
  std::optional<Disk> snapshot_;
  struct Process {
    std::string boot;        // that it belongs to
    std::int64_t until = 0;  // when it ends by itself, or by its timeout
  };
  std::map<TaskKey, Process> alive_;
  std::unique_ptr<link::Node> node_;
  std::uint64_t agent_life_ = 0;
  std::int64_t heard_since_ = 0;  // while it is welcomed
  std::shared_ptr<Wire> wire_;
  link::Backoff backoff_;
  bool revoked_ = false;
  bool copy_ = false;
  bool doubled_ = false;  // there is or was a copy of its disk, or it was put back to an old one
  std::string invite_ = "invite";
  bool unknown_ = false;
};

}  // namespace muster::sim
