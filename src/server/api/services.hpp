#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/activity.hpp"
#include "ports/artifacts.hpp"
#include "ports/clock.hpp"
#include "ports/log_store.hpp"
#include "ports/store.hpp"
#include "server/api/caller_slots.hpp"
#include "server/api/refusals.hpp"
#include "server/auth/authenticator.hpp"
#include "server/certificates/certificates.hpp"
#include "server/keeping/keeper.hpp"
#include "server/leading/engine_thread.hpp"
#include "server/live/channel_book.hpp"
#include "server/live/declared_hosts.hpp"
#include "server/live/job_runs.hpp"
#include "server/live/live_view.hpp"
#include "server/live/stream_hub.hpp"
#include "server/planning/inventory.hpp"
#include "server/results/run_results.hpp"
#include "server/runtime/log_ring.hpp"
#include "server/traces/trace_sender.hpp"

namespace muster::server::api {

// Event streams that one caller has open; each may be megabytes behind its reader.
constexpr std::size_t kMostStreams = 250;

// What handlers work with. Everything here outlives the router.
struct Services {
  Store& store;
  LogStore& logs;
  EngineThread& engine;
  LiveView& live;
  StreamHub& hub;
  const Clock& clock;
  const Identity& identity;
  const Authenticator& people;
  Refusals& refusals;
  std::string openapi;                       // the contract's text
  std::function<std::size_t()> connections;  // open on the port
  std::function<std::size_t()> links;
  std::string public_url;                      // "" when none was given
  Duration agent_life;                         // of certificates
  std::function<WallTime()> server_cert_ends;  // the one that is shown now
  LogRing& log;
  std::function<std::vector<base::Activity::View>()> activities;  // of every thread
  const Keeper& keeper;
  ArtifactStore& artifacts;
  RunResults& results;
  DeclaredHosts& declared;
  JobRuns& job_runs;
  ChannelBook& channel_book;
  std::function<std::string()> not_ready;  // why nobody should be sent here; "" when all is well
  std::function<bool()> finalize_due;      // an upgrade waits for its last step
  // How this server stands in its cluster.
  struct Standing {
    bool sends_away = false;              // its nodes go to other servers
    std::optional<Duration> clock_ahead;  // of the store's, or else the leader's; when it is known
  };
  std::function<Standing()> standing;
  const TraceSender& traces;
  std::string server;  // this one's name
  CallerSlots streams{kMostStreams};

  Inventory inventory() const { return {store, live, declared}; }
};

}  // namespace muster::server::api
