#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/net/event_loop.hpp"
#include "base/result.hpp"
#include "domain/host.hpp"
#include "fleet/emulated_host.hpp"

namespace muster::fleet {

struct FleetOptions {
  std::vector<std::string> servers;  // URLs
  std::string join;
  std::uint32_t count = 1;
  std::filesystem::path data;  // keeps the hosts' keys; empty keeps them in memory
  std::string prefix = "fleet";
  Labels labels;
  Pretence pretence;
  std::uint32_t connecting = 128;  // handshakes at a time
  std::filesystem::path history;   // what the hosts did, line by line; empty keeps none
};

// Thousands of emulated hosts in one process.
class Fleet {
 public:
  Fleet(net::EventLoop& loop, FleetOptions options);

  // Checks what does not need a server: addresses, and the data folder, which it makes. First.
  Result<> Prepare() const;

  // Joins every host (or finds its keys in the data folder). Blocks; several threads share the
  // work.
  Result<> JoinAll();

  // Begins to connect, a bounded number at a time.
  void ConnectAll();

  std::uint32_t Online() const { return online_; }
  std::uint64_t TasksEnded() const { return tasks_ended_; }

 private:
  Result<EmulatedHost::Identity> JoinOne(std::uint32_t index) const;
  Result<EmulatedHost::Identity> LoadOne(const std::string& name) const;
  Result<> SaveOne(const EmulatedHost::Identity& identity) const;
  void ConnectMore();
  void BeatSome();

  net::EventLoop& loop_;
  FleetOptions options_;
  std::string boot_;
  std::optional<agent::HistoryFile> history_;
  agent::TicketCheck tickets_;
  std::vector<std::unique_ptr<EmulatedHost>> hosts_;
  std::size_t next_to_connect_ = 0;
  std::size_t next_to_beat_ = 0;
  std::uint32_t online_ = 0;
  std::uint32_t connecting_ = 0;
  std::uint64_t tasks_ended_ = 0;
};

}  // namespace muster::fleet
