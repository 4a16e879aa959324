#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "engine/command.hpp"
#include "link/messages.hpp"
#include "ports/log_store.hpp"

namespace muster::server {

// What a server does with the frames of a welcomed node: output goes to the log store, reports to
// the engine. A report that ends an output reaches the engine together with the final mark, after
// every byte is durable and the hashes agree. The intake acknowledges stored output and nothing
// else: the end of a task is acknowledged by the engine, after its commit.
//
// When the log store fails, or bytes are missing that the node believes sent, the link is closed:
// the node comes back with Hello, learns how far its output is durable, and sends the rest again.
class Intake {
 public:
  // Each may be called from any thread the log store answers on, also during Take.
  struct Exits {
    std::function<void(engine::NodeReports)> reports;
    std::function<void(LinkId, link::ServerFrame)> send;
    std::function<void(LinkId, const Error& why)> close;
    std::function<void(const std::vector<LogChunk>&)> stored;  // for live views; may be empty
  };

  Intake(LogStore& logs, Exits exits) : logs_(logs), exits_(std::move(exits)) {}

  // Hello and Beat are not its business. `host` is who the link belongs to: anything about another
  // host's tasks closes the link.
  void Take(LinkId link, HostId host, link::NodeFrame frame);

 private:
  void Store(LinkId link, std::vector<LogChunk> chunks);
  void PassReports(LinkId link, std::uint64_t session, std::vector<link::Report> reports);

  LogStore& logs_;
  Exits exits_;
};

}  // namespace muster::server
