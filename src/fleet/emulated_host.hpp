#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "adapters/net/client.hpp"
#include "adapters/net/event_loop.hpp"
#include "agent/daemon/history_file.hpp"
#include "agent/daemon/ticket_check.hpp"
#include "fleet/pretence.hpp"
#include "link/node.hpp"
#include "link/server_choice.hpp"

namespace muster::fleet {

// A host as the server sees one: the real link state machine over a real TLS link, with a process
// that is only pretended. Memory instead of a disk: what it held is gone with the program. One
// thread.
class EmulatedHost {
 public:
  struct Identity {
    std::string name;
    std::string key_pem;
    std::string cert_pem;
    std::string ca_pem;
    std::string store;
    std::string cluster;
  };
  struct Notice {
    std::function<void()> welcomed;  // once on each link
    std::function<void(bool was_welcomed)> closed;
    std::function<void()> task_ended;
  };

  EmulatedHost(net::EventLoop& loop, std::vector<std::string> servers, Identity identity,
               const Pretence& pretence, std::string boot, Notice notice,
               agent::TicketCheck& tickets, agent::HistoryFile* history = nullptr);

  void Connect();
  void Beat();  // called by the fleet for all hosts in turn
  bool Welcomed() const { return node_.Welcomed(); }
  const Identity& identity() const { return identity_; }

 private:
  struct Pretended {
    bool ended = false;
    net::EventLoop::TimerId timer = 0;
    std::shared_ptr<const Command> command;
    TaskEnd end;
  };

  void OnFrame(const std::string& bytes);
  void OnClosed();
  void StartTask(const link::Order& order);
  // `state`: kSucceeded, unless the task is one of those that fail; kTimedOut or kKilled.
  void EndTask(const TaskKey& task, TaskState state);
  std::uint64_t KeptOf(const Command& command) const;  // of the output, in bytes
  LogTotals TotalsOf(std::uint64_t kept) const;
  TaskEnd Ended(const TaskKey& task, const Command& command, TaskState state) const;
  void Restart();
  link::Node MakeNode(Term highest_term);
  void KeepHistory();
  Result<std::vector<LogChunk>> Read(const TaskKey& task, std::uint64_t from,
                                     std::size_t limit) const;
  void Flush();

  net::EventLoop& loop_;
  Identity identity_;
  link::ServerChoice servers_;
  const Pretence& pretence_;
  const Conduct conduct_;
  Notice notice_;
  agent::TicketCheck& tickets_;
  std::string boot_;
  std::uint64_t restarts_ = 0;
  link::Node node_;
  std::unique_ptr<net::LinkClient> link_;
  std::uint64_t session_;
  bool open_ = false;
  bool welcomed_ = false;
  bool leaving_ = false;  // the next connection is on its way
  std::map<TaskKey, Pretended> tasks_;
  agent::HistoryFile* history_;  // nullptr: none is kept
};

}  // namespace muster::fleet
