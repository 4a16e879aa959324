#pragma once

#include <functional>
#include <map>
#include <string>

#include "server/gateway/hearing.hpp"
#include "server/gateway/intake.hpp"
#include "server/gateway/output_bounds.hpp"
#include "sim/cluster/sim_clock.hpp"
#include "sim/cluster/sim_life.hpp"
#include "sim/servers.hpp"
#include "sim/sim_store.hpp"

namespace muster::sim {

// A server's links to nodes, with the real intake: what src/server/gateway does, without sockets.
class SimGateway {
 public:
  using Submit = std::function<void(engine::AnyCommand)>;

  SimGateway(World& world, Life life, const SimClock& clock, Store& store, LogStore& logs,
             Submit submit);

  void Open(LinkId id, std::string key, ServerPort port);
  void Receive(LinkId id, link::NodeFrame frame);
  void Closed(LinkId id);

  void Deliver(LinkId id, link::ServerFrame frame);
  void Close(LinkId id);
  void AskForHello(server::Hearing::By by, Term term);
  server::Hearing::By HeardBy() const { return hearing_.Now(); }
  void EndHere() { hearing_.EndsHere(); }
  void SendAway();  // every node, to another server or back here
  void DropAll();   // the program ends: the kernel closes its sockets

 private:
  struct Link {
    std::string key;
    ServerPort port;
    HostId host;
    server::OutputBounds bounds = {};
  };
  void TakeHello(Link& link, LinkId id, link::Hello hello);

  World& world_;
  Life life_;
  const SimClock& clock_;
  Store& store_;
  LogStore& logs_;
  Submit submit_;
  server::Intake intake_;
  server::Hearing hearing_;
  std::map<LinkId, Link> links_;
};

}  // namespace muster::sim
