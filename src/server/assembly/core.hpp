#pragma once

#include <memory>

#include "adapters/net/event_loop.hpp"
#include "base/activity.hpp"
#include "server/assembly/foundation.hpp"
#include "server/auth/authenticator.hpp"
#include "server/certificates/ca_state.hpp"
#include "server/egress/egress_work.hpp"
#include "server/egress/secret_book.hpp"
#include "server/gateway/gateway.hpp"
#include "server/leading/clock_judge.hpp"
#include "server/leading/engine_thread.hpp"
#include "server/leading/store_probe.hpp"
#include "server/live/channel_book.hpp"
#include "server/live/declared_hosts.hpp"
#include "server/live/job_runs.hpp"
#include "server/live/live_view.hpp"
#include "server/live/stream_hub.hpp"
#include "server/peers/cluster.hpp"
#include "server/peers/followers.hpp"
#include "server/peers/member_identity.hpp"
#include "server/peers/schema_watch.hpp"
#include "server/planning/document_channels.hpp"
#include "server/results/run_results.hpp"
#include "server/results/watched_store.hpp"
#include "server/runtime/worker_pool.hpp"
#include "server/traces/trace_sender.hpp"

namespace muster::server {

// The engine and all that it decides for and tells: nodes' links, here and at other servers, who
// watches, what is done outside. Members stand in the order they depend on each other; their
// threads end in Stop, before any of them goes.
class Core {
 public:
  explicit Core(Foundation& under);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // What nodes are told of certificates; once, before the first link.
  Result<> OpenOffice();
  Result<> Start();
  void Stop();

  std::vector<base::Activity::View> Activities() const;

  Foundation& foundation;
  Store& store;
  LogStore& logs;
  net::EventLoop loop;
  base::Activity network{"network"};
  WorkerPool workers;
  LiveView live;
  StreamHub hub;
  SecretBook secrets;
  Gateway gateway;
  Authenticator people;
  RunResults results;
  DeclaredHosts declared;
  JobRuns job_runs;
  ChannelBook channel_book;
  WatchedStore watched;
  ClockJudge judge;
  TermTickets tickets;
  Followers followers;
  TraceSender traces;
  EngineThread engine;
  StorePulse pulse;
  MemberIdentity member;
  Cluster cluster;
  SchemaWatch schema;
  DocumentChannels channels;
  OutsideWork outside;

 private:
  FindSecret FindSecrets();
  void TakeNews(std::vector<engine::News> news);
  void ShowStored(const StoredOutput& output);
  void LookAtSchema();
  void NoteHeard();
  std::vector<HostsOfCa> HostsByCa() const;
  // Keeps in the data folder what is known of CAs, for `musterd ca`.
  void NoteCas();
  // Has what changed of this server's keys put on the audit trail, as soon as it leads.
  void TellOfKeys();

  CaState ca_state_;  // as it was kept last; the loop's thread only
};

}  // namespace muster::server
