#pragma once

#include <memory>

#include "adapters/net/server.hpp"
#include "server/api/artifacts.hpp"
#include "server/api/outputs.hpp"
#include "server/api/refusals.hpp"
#include "server/api/router.hpp"
#include "server/api/routes.hpp"
#include "server/api/search.hpp"
#include "server/api/services.hpp"
#include "server/assembly/core.hpp"
#include "server/assembly/trigger_planner.hpp"
#include "server/auth/failure_watch.hpp"
#include "server/auth/tokens_on_record.hpp"
#include "server/certificates/certificate_keeper.hpp"
#include "server/keeping/keeper.hpp"
#include "server/peers/shared_artifacts.hpp"

namespace muster::server {

// The server's one port, and everything that is asked of it: the API in front of the core, links to
// their gateway. Also what the core needs of the API: plans for slots that are due.
class Front {
 public:
  Front(Core& core, LogRing& log);
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;

  Result<> Listen();
  void StopAccepting() {
    router_.EndWork();
    server_->StopAccepting();
  }
  void Stop() { keeper_.Stop(); }  // its threads

 private:
  void AddRoutes();
  void GiveWorkToServer();
  void PassOn(net::HttpRequest request, std::shared_ptr<net::HttpExchange> exchange);
  void Answer(net::HttpRequest request, std::shared_ptr<net::HttpExchange> exchange);
  void JudgeBody(const net::HttpRequest& head, std::function<void(net::BodyVerdict)> decide);
  // As api::LookAgain says.
  void LookAgain(const std::string& token, const std::function<void(bool usable)>& then);
  void LinkRefused(std::string_view source);
  net::ServerHandlers Handlers();
  api::Services MakeServices(LogRing& log);
  void Sweep();

  Core& core_;
  const Config& config_;
  const Clock& clock_;
  Keeper keeper_;
  FailureWatch failures_;
  api::Refusals refusals_;
  CertificateKeeper certificates_;
  SharedArtifacts shared_files_;
  std::unique_ptr<net::Server> server_;  // once it listens
  api::Services services_;
  TriggerPlanner planner_;
  api::ArtifactServices files_;
  api::SearchServices searches_;
  api::LineStreams streams_;
  api::OutputServices outputs_;
  api::AgentServices joins_;
  api::DocumentServices documents_;
  api::ListServices lists_;
  api::ChannelServices channels_;
  api::SecretServices sealed_;
  api::ServerServices servers_;
  PeopleOnRecord on_record_;
  api::Router router_;
};

}  // namespace muster::server
