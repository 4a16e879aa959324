#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "adapters/net/event_loop.hpp"
#include "adapters/net/server.hpp"
#include "link/codec/codec.hpp"
#include "ports/clock.hpp"
#include "ports/links.hpp"
#include "ports/log_store.hpp"
#include "ports/store.hpp"
#include "server/gateway/intake.hpp"
#include "server/worker_pool.hpp"

namespace muster::server {

// Holds the nodes' links on the network loop's thread: turns frames into commands for the engine
// and the engine's messages into frames. It answers heartbeats itself and acknowledges stored
// output; every other word to a node is the engine's.
class Gateway final : public Links {
 public:
  using Submit = std::function<void(engine::Command)>;
  using Stored = std::function<void(const std::vector<LogChunk>&)>;

  Gateway(net::EventLoop& loop, Store& store, LogStore& logs, const Clock& clock,
          WorkerPool& workers, Stored stored);

  // Where commands go; set once, before the first link.
  void SetSubmit(Submit submit) { submit_ = std::move(submit); }

  // Handlers for net::ServerHandlers, on the loop's thread.
  void OnLink(std::shared_ptr<net::LinkConnection> connection);
  void OnFrame(net::LinkConnection& connection, const std::string& bytes);
  void OnClosed(net::LinkConnection& connection);

  void Send(std::vector<Outgoing> frames) override;
  void Close(LinkId link) override;
  void BeginAnew(Term term) override;

  std::size_t LinkCount() const { return link_count_; }

 private:
  struct Link {
    std::shared_ptr<net::LinkConnection> connection;
    HostId host;  // known once welcomed
  };

  void TakeHello(Link& link, link::Hello hello);
  void SendNow(LinkId link, const link::ServerFrame& frame);
  void CloseSoon(LinkId link, const Error& why);  // from any thread
  void CloseNow(LinkId link, const std::string& why);

  net::EventLoop& loop_;
  Store& store_;
  LogStore& logs_;
  const Clock& clock_;
  WorkerPool& workers_;
  Submit submit_;
  Intake intake_;
  link::ServerFrameEncoder encoder_;
  std::unordered_map<LinkId, Link> links_;  // the loop's thread only
  std::atomic<std::size_t> link_count_{0};
};

}  // namespace muster::server
