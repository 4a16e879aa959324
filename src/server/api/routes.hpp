#pragma once

#include <functional>
#include <string>
#include <vector>

#include "adapters/crypto/seal.hpp"
#include "base/secret_text.hpp"
#include "ports/server_actions.hpp"
#include "server/api/caller_slots.hpp"
#include "server/api/channel_tests.hpp"
#include "server/api/document_descriptions.hpp"
#include "server/api/drain_orders.hpp"
#include "server/api/lane.hpp"
#include "server/api/refusals.hpp"
#include "server/api/router.hpp"
#include "server/api/services.hpp"
#include "server/api/turns.hpp"

namespace muster::server {
class Cluster;
class Followers;
class SchemaWatch;
class WorkerPool;
}  // namespace muster::server

namespace muster::server::api {

// The routes of each subject. `services` must outlive them.
std::vector<Route> RunRoutes(Services& services);
std::vector<Route> SteeringRoutes(Services& services);  // of runs under way, or ended
std::vector<Route> JobRoutes(Services& services);       // starts of jobs
std::vector<Route> TaskRoutes(Services& services);
std::vector<Route> ResultRoutes(Services& services);  // of a run as a whole
std::vector<Route> HostRoutes(Services& services);
std::vector<Route> HostRunRoutes(Services& services);  // what runs came to on a host
std::vector<Route> LabelRoutes(Services& services);
std::vector<Route> FleetRoutes(Services& services);  // what is decided about hosts
std::vector<Route> SystemRoutes(Services& services);
std::vector<Route> TokenRoutes(Services& services);
std::vector<Route> AuditRoutes(Services& services);
std::vector<Route> DebugRoutes(Services& services);
std::vector<Route> FreezeRoutes(Services& services);   // and maintenance of hosts
std::vector<Route> TriggerRoutes(Services& services);  // and their slots
std::vector<Route> CheckRoutes(Services& services);    // proofs over what is on record
std::vector<Route> TraceRoutes(Services& services);

// Joins of hosts. Requests of newcomers with a good invite are verified one after the other, and
// invites take turns.
struct AgentServices {
  Services& common;
  Turns joins;
};
std::vector<Route> AgentRoutes(AgentServices& services);

// What is applied. Documents are checked one call at a time: a call may hold as many as fit into
// its body.
struct DocumentServices {
  // Calls with documents that one caller may have waiting; each keeps its body in memory.
  static constexpr std::size_t kMostWaiting = 16;

  Services& common;
  Lane lane;
  CallerSlots waiting{kMostWaiting};
};
std::vector<Route> DocumentRoutes(DocumentServices& services);

// Lists of documents with what stands in them: jobs with what became of them last and what is next,
// channels with what they took. One list is made at a time: it may read many documents.
struct ListServices {
  static constexpr std::size_t kMostWaiting = 16;  // lists of one caller

  Services& common;
  Lane lane;
  DocumentDescriptions descriptions;
  CallerSlots waiting{kMostWaiting};

  // Calls `list`, which answers the call, when its turn comes.
  void Post(const CallPtr& call, std::function<void()> list);
};
std::vector<Route> JobListRoutes(ListServices& services);

struct ChannelServices {
  Services& common;
  ListServices& lists;
  WorkerPool& workers;
  // As OutsideWork::Test.
  std::function<std::function<void()>(const std::string& channel, std::string message,
                                      ServerActions::Done)>
      test;
  Refusals::Later later;
  ChannelTests tests = {};
};
std::vector<Route> ChannelRoutes(ChannelServices& services);

// Servers of the cluster: who is there, who may join, who is to drain, and the end of an upgrade.
struct ServerServices {
  Services& common;
  Cluster& cluster;
  Followers& followers;
  std::string name;                          // this server's
  std::function<Result<SecretText>()> keys;  // of the cluster
  SchemaWatch& schema;
  WorkerPool& workers;
  DrainOrders drains = {};
};
std::vector<Route> ServerRoutes(ServerServices& services);

struct SecretServices {
  Store& store;
  EngineThread& engine;
  const crypto::Sealer& sealer;
};
std::vector<Route> SecretRoutes(SecretServices& services);

}  // namespace muster::server::api
