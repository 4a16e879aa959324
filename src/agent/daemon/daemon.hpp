#pragma once

#include <memory>
#include <optional>
#include <string>

#include "adapters/net/client.hpp"
#include "adapters/net/event_loop.hpp"
#include "agent/daemon/certificates.hpp"
#include "agent/daemon/history_file.hpp"
#include "agent/daemon/ticket_check.hpp"
#include "agent/identity.hpp"
#include "agent/tasks/shim_runner.hpp"
#include "link/node.hpp"
#include "link/server_choice.hpp"

namespace muster::agent {

// The agent at work: keeps a link to a server of its cluster, hands what arrives to the link's
// state machine, and carries out what that decides. One thread, an event loop.
class Daemon {
 public:
  struct Options {
    std::string version;
    RunAsPolicy run_as;
    Cgroups cgroups = Cgroups::None("not looked for");
    Spawner* spawner = nullptr;  // outlives the daemon
    std::uint64_t max_spool = 1ULL << 30;
    HistoryFile* history = nullptr;  // outlives the daemon; nullptr: none is kept
  };

  Daemon(net::EventLoop& loop, DataFolder& folder, Credentials credentials, Options options);

  // Finds its tasks again and begins to connect. The loop then runs it.
  Result<> Start();

  // For tasks that start from now on.
  void Configure(RunAsPolicy run_as, std::uint64_t max_spool) {
    runner_.Configure(std::move(run_as), max_spool);
  }

 private:
  void Connect();
  void OnOpen(std::uint64_t session);
  void OnFrame(const std::string& bytes);
  void OnClosed(const Error& why);
  void TakeServers(const std::vector<std::string>& servers);
  void TakePapers(const link::Papers& papers);
  void SayHello(std::uint64_t session);
  void CarryOut(const link::Node::Actions& actions);
  void StartTask(const link::Order& order);
  void Flush();
  void Tick();

  net::EventLoop& loop_;
  DataFolder& folder_;
  Papers papers_;
  TicketCheck tickets_;
  Options options_;
  ShimRunner runner_;
  std::optional<link::Node> node_;
  std::unique_ptr<net::LinkClient> link_;
  std::optional<link::ServerChoice> servers_;
  Duration heartbeat_ = std::chrono::seconds(10);
  std::int64_t next_beat_ = 0;
  std::int64_t last_heard_ = 0;
  std::int64_t idle_at_ = 0;  // when memory is given back; 0: it was
  bool open_ = false;
  bool leaving_ = false;  // the next connection is on its way
};

}  // namespace muster::agent
