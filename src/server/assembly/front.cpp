#include "server/assembly/front.hpp"

#include <utility>

#include <spdlog/spdlog.h>

#include "base/version.hpp"
#include "server/api/ask_engine.hpp"
#include "server/certificates/certificates.hpp"
#include "server/certificates/cluster_keys.hpp"
#include "server/openapi.hpp"

namespace muster::server {
namespace {

// What the engine asks of the server at once; slots are planned together.
struct WorkByKind {
  std::vector<engine::ServerOrder> orders = {};
  std::vector<TaskKey> stops = {};
  std::vector<engine::PrepareSlot> slots = {};
  std::vector<engine::FetchTriggers> fetches = {};

  void operator()(engine::ServerOrder order) { orders.push_back(std::move(order)); }
  void operator()(const engine::StopServerOrder& stop) { stops.push_back(stop.task); }
  void operator()(engine::PrepareSlot slot) { slots.push_back(std::move(slot)); }
  void operator()(engine::FetchTriggers fetch) { fetches.push_back(std::move(fetch)); }
};

constexpr Duration kSweep = std::chrono::seconds(15);

net::ServerOptions NetOptions(const Foundation& foundation) {
  const Config& config = foundation.config;
  net::ServerOptions options;
  options.address = foundation.listen.host;
  options.port = foundation.listen.port;
  options.tls = foundation.identity->Tls();
  if (auto host = HostOfUrl(config.public_url); !host.empty())
    options.names.push_back(std::move(host));
  options.limits = config.limits;
  options.limits.link_silence = config.heartbeat * 3 + std::chrono::seconds(5);
  return options;
}

api::Refusals::Later Later(net::EventLoop& loop) {
  return [&loop](Duration delay, std::function<void()> work) {
    loop.Post([&loop, delay, work = std::move(work)] { loop.After(delay, work); });
  };
}

// A server that is alone has nobody to leave the lead to.
std::function<bool(const std::string&)> DiskLow(Core& core) {
  if (!core.foundation.Clustered()) return {};
  return [&core](const std::string& why) { return core.cluster.SetDiskLow(why); };
}

// Links of nodes and of other servers have one port and two holders.
template <typename Nodes, typename Servers>
void ToHolder(const net::LinkConnection& link, Nodes nodes, Servers servers) {
  if (link.PeerServer().empty())
    nodes();
  else
    servers();
}

}  // namespace

Front::Front(Core& core, LogRing& log)
    : core_(core),
      config_(core.foundation.config),
      clock_(core.foundation.clock),
      keeper_(core.store, core.logs, *core.foundation.artifacts, core.engine, clock_,
              {.data = config_.data,
               .retention = config_.retention,
               .disk_floor = core.foundation.disk_floor,
               .disk_low = DiskLow(core)}),
      failures_({.per_minute = static_cast<std::uint32_t>(config_.failures_per_minute)},
                [](const std::string& line) { spdlog::warn("{}", line); }),
      refusals_(failures_, clock_, Later(core.loop)),
      certificates_(config_.data, core.foundation.certificates, *core.foundation.identity, clock_),
      shared_files_(
          *core.foundation.artifacts,
          {.servers = [&core] { return core.cluster.Others(); },
           .identity = [&core](const std::string& name) { return core.member.For(name); }}),
      services_(MakeServices(log)),
      planner_(services_.inventory(), core.engine, core.workers),
      files_{.own = *core.foundation.artifacts,
             .shared = shared_files_,
             .workers = core.workers,
             .ask = api::AskEngine(core.engine),
             .look_again = [this](const auto& token, const auto& then) { LookAgain(token, then); }},
      searches_{
          .store = core.store,
          .logs = core.logs,
          .clock = clock_,
          .lane = api::Lane(core.workers, "search"),
          .look_again = [this](const auto& token, const auto& then) { LookAgain(token, then); },
          .later = Later(core.loop)},
      streams_{
          .store = core.store,
          .logs = core.logs,
          .clock = clock_,
          .lane = api::Lane(core.workers, "output"),
          .look_again = [this](const auto& token, const auto& then) { LookAgain(token, then); },
          .later = Later(core.loop)},
      outputs_{.streams = streams_, .results = core.results, .keeper = keeper_},
      joins_{.common = services_, .joins = api::Turns(core.workers, "join")},
      documents_{.common = services_, .lane = api::Lane(core.workers, "documents")},
      lists_{.common = services_,
             .lane = api::Lane(core.workers, "list documents"),
             .descriptions = api::DocumentDescriptions(core.store)},
      channels_{
          .common = services_,
          .lists = lists_,
          .workers = core.workers,
          .test =
              [&core](const std::string& channel, std::string message, ServerActions::Done done) {
                return core.outside.Test(channel, std::move(message), std::move(done));
              },
          .later = Later(core.loop)},
      sealed_{.store = core.store, .engine = core.engine, .sealer = *core.foundation.sealer},
      servers_{.common = services_,
               .cluster = core.cluster,
               .followers = core.followers,
               .name = core.foundation.self.name,
               .keys = [this] { return PackClusterKeys(config_.data); },
               .schema = core.schema,
               .workers = core.workers},
      on_record_(
          core.store, core.foundation.identity->admin_token,
          {.to_worker =
               [&core](std::function<void()> work) {
                 return core.workers.PostUrgent(std::move(work), "read tokens");
               },
           .to_loop = [&core](std::function<void()> work) { core.loop.Post(std::move(work)); },
           .cut_off = [&core] { return core.foundation.Clustered() ? core.pulse.Trouble() : ""; }}),
      router_(core.people, refusals_, core.workers, clock_) {
  core.gateway.SetRefused(
      [this](const std::string& remote) { LinkRefused(net::SourceOf(remote)); });
  GiveWorkToServer();
  AddRoutes();
}

api::Services Front::MakeServices(LogRing& log) {
  Core& core = core_;
  return {.store = core.store,
          .logs = core.logs,
          .engine = core.engine,
          .live = core.live,
          .hub = core.hub,
          .clock = clock_,
          .identity = *core.foundation.identity,
          .people = core.people,
          .refusals = refusals_,
          .openapi = kOpenApi,
          .connections = [this] { return server_ ? server_->Connections() : 0; },
          .links = [&core] { return core.gateway.LinkCount(); },
          .public_url = config_.public_url,
          .agent_life = config_.agent_life,
          .server_cert_ends = [this] { return certificates_.ServerEnds(); },
          .log = log,
          .activities = [&core] { return core.Activities(); },
          .keeper = keeper_,
          .artifacts = shared_files_,
          .results = core.results,
          .declared = core.declared,
          .job_runs = core.job_runs,
          .channel_book = core.channel_book,
          .not_ready = [&core] { return core.cluster.NotReady(); },
          .finalize_due = [&core] { return core.schema.Get().FinalizeDue(); },
          .standing = [&core, &clock = clock_]() -> api::Services::Standing {
            return {.sends_away = core.cluster.SendsAway(),
                    .clock_ahead = core.judge.Ahead(clock.Read())};
          },
          .traces = core.traces,
          .server = core.foundation.self.name};
}

// What the engine leaves to its server.
void Front::GiveWorkToServer() {
  Core& core = core_;
  core.engine.SetServer({.work =
                             [this](std::vector<engine::ServerWork> work) {
                               WorkByKind kinds;
                               for (auto& one : work) std::visit(kinds, std::move(one));
                               core_.outside.Take(std::move(kinds.orders));
                               core_.outside.Stop(kinds.stops);
                               planner_.Prepare(std::move(kinds.slots));
                               planner_.Fetch(std::move(kinds.fetches));
                             },
                         .ended =
                             [&core] {
                               core.followers.Dismiss();
                               core.cluster.EndedHere();
                               core.hub.Forget();
                             }});
}

void Front::AddRoutes() {
  for (auto* routes :
       {api::RunRoutes, api::SteeringRoutes, api::JobRoutes, api::TaskRoutes, api::ResultRoutes,
        api::HostRoutes, api::HostRunRoutes, api::LabelRoutes, api::FleetRoutes, api::SystemRoutes,
        api::TokenRoutes, api::AuditRoutes, api::DebugRoutes, api::FreezeRoutes, api::TriggerRoutes,
        api::CheckRoutes, api::TraceRoutes})
    router_.Add(routes(services_));
  router_.Add(api::AgentRoutes(joins_));
  router_.Add(api::ArtifactRoutes(files_));
  router_.Add(api::SearchRoutes(searches_));
  router_.Add(api::OutputRoutes(outputs_));
  router_.Add(api::DocumentRoutes(documents_));
  router_.Add(api::JobListRoutes(lists_));
  router_.Add(api::ChannelRoutes(channels_));
  router_.Add(api::SecretRoutes(sealed_));
  router_.Add(api::ServerRoutes(servers_));
}

void Front::Answer(net::HttpRequest request, std::shared_ptr<net::HttpExchange> exchange) {
  const auto on_record = [&] { return router_.IsOnRecord(request); };
  switch (core_.cluster.WhoAnswers(request, on_record)) {
    case Cluster::Answers::kHere:
      return router_.Handle(std::move(request), std::move(exchange));
    case Cluster::Answers::kRecord:
      return router_.HandleOnRecord(on_record_, std::move(request), std::move(exchange));
    case Cluster::Answers::kNobody:
      return router_.NobodyLeads(std::move(request), std::move(exchange), core_.cluster.NotReady());
    case Cluster::Answers::kLeader:
      return PassOn(std::move(request), std::move(exchange));
  }
}

void Front::PassOn(net::HttpRequest request, std::shared_ptr<net::HttpExchange> exchange) {
  router_.LetInOnRecord(on_record_, std::move(request), std::move(exchange),
                        [this](net::HttpRequest asked, std::shared_ptr<net::HttpExchange> to,
                               const std::string& who) {
                          if (!core_.cluster.PassOn(asked, to, who))
                            router_.NobodyLeads(std::move(asked), std::move(to),
                                                core_.cluster.NotReady());
                        });
}

void Front::JudgeBody(const net::HttpRequest& head, std::function<void(net::BodyVerdict)> decide) {
  if (core_.engine.Decides()) return decide(router_.Judge(head));
  router_.JudgeOnRecord(on_record_, head, std::move(decide));
}

void Front::LookAgain(const std::string& token, const std::function<void(bool usable)>& then) {
  if (token.empty()) return then(true);
  const Now now = clock_.Read();
  if (core_.engine.Decides()) return then(core_.people.Usable(token, now.wall));
  // Whom it cannot read about, it cannot go on answering.
  on_record_.LookAgain(now.mono, [this, token, now, then](const Result<>& looked) {
    then(looked && on_record_.people().Usable(token, now.wall));
  });
}

void Front::LinkRefused(std::string_view source) {
  failures_.Failed(source, Failure::kLink, clock_.Read().mono);
}

net::ServerHandlers Front::Handlers() {
  Gateway& nodes = core_.gateway;
  Followers& servers = core_.followers;
  base::Activity& network = core_.network;
  return {
      .on_http =
          [this, &network](net::HttpRequest request, std::shared_ptr<net::HttpExchange> exchange) {
            const base::Activity::Work mark(network, "request");
            Answer(std::move(request), std::move(exchange));
          },
      .streams_body = api::StreamsBody,
      .judge_body =
          [this](const net::HttpRequest& head, std::function<void(net::BodyVerdict)> decide) {
            JudgeBody(head, std::move(decide));
          },
      .on_foreign =
          [this](net::HttpRequest head, std::shared_ptr<net::HttpExchange> exchange,
                 const net::SourceProblem& problem) {
            router_.RefuseForeign(std::move(head), std::move(exchange), problem);
          },
      .on_link =
          [&](const std::shared_ptr<net::LinkConnection>& link) {
            const base::Activity::Work mark(network, "new link");
            ToHolder(*link, [&] { nodes.OnLink(link); }, [&] { servers.OnLink(link); });
          },
      .on_frame =
          [&](net::LinkConnection& link, const std::string& frame) {
            const base::Activity::Work mark(network, "frame");
            ToHolder(
                link, [&] { nodes.OnFrame(link, frame); }, [&] { servers.OnFrame(link, frame); });
          },
      .on_link_closed =
          [&](net::LinkConnection& link) {
            ToHolder(link, [&] { nodes.OnClosed(link); }, [&] { servers.OnClosed(link); });
          },
      .on_refused =
          [this](std::string_view source, std::string_view why) {
            LinkRefused(source);
            spdlog::debug("refused source={} reason=\"{}\"", source, why);
          },
      .on_warning = [](std::string_view message) { spdlog::warn("net {}", message); }};
}

Result<> Front::Listen() {
  const Foundation& foundation = core_.foundation;
  auto server = net::Server::Listen(core_.loop, NetOptions(foundation), Handlers());
  if (!server) return Fail(server.error());
  server_ = std::move(*server);
  keeper_.Start();
  spdlog::info("musterd {} listens on {}:{} data={}", kVersion, foundation.listen.host,
               server_->Port(), config_.data.string());
  certificates_.Start(core_.loop, *server_);
  Sweep();
  return {};
}

void Front::Sweep() {
  core_.loop.After(kSweep, [this] {
    core_.hub.Sweep([this, now = clock_.Read().wall](const std::string& token) {
      return core_.people.Usable(token, now);
    });
    failures_.Sweep(clock_.Read().mono);
    Sweep();
  });
}

}  // namespace muster::server
