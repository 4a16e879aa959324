// musterd: one port for the API, links, metrics and health; one thread that decides; one that
// commits.

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>

#include <CLI/CLI.hpp>
#include <spdlog/spdlog.h>

#include "adapters/artifacts/file_artifacts.hpp"
#include "adapters/crypto/digest.hpp"
#include "adapters/crypto/seal.hpp"
#include "adapters/net/client.hpp"
#include "adapters/net/event_loop.hpp"
#include "adapters/net/server.hpp"
#include "adapters/outside/curl_actions.hpp"
#include "adapters/system/service_notify.hpp"
#include "adapters/system/system_clock.hpp"
#include "base/activity.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "link/papers.hpp"
#include "server/api/artifacts.hpp"
#include "server/api/ask_engine.hpp"
#include "server/api/document_channels.hpp"
#include "server/api/routes.hpp"
#include "server/api/search.hpp"
#include "server/api/trigger_planner.hpp"
#include "server/ca_command.hpp"
#include "server/certificate_keeper.hpp"
#include "server/certificates.hpp"
#include "server/clock_judge.hpp"
#include "server/cluster_keys.hpp"
#include "server/config.hpp"
#include "server/engine_thread.hpp"
#include "server/gateway/gateway.hpp"
#include "server/keeping/backup.hpp"
#include "server/keeping/keeper.hpp"
#include "server/keeping/moved.hpp"
#include "server/keeping/store_copy.hpp"
#include "server/live/live_view.hpp"
#include "server/live/stream_hub.hpp"
#include "server/log_ring.hpp"
#include "server/openapi.hpp"
#include "server/outside_work.hpp"
#include "server/peers/cluster.hpp"
#include "server/peers/followers.hpp"
#include "server/peers/member_identity.hpp"
#include "server/peers/schema_watch.hpp"
#include "server/peers/shared_artifacts.hpp"
#include "server/results/run_results.hpp"
#include "server/results/watched_store.hpp"
#include "server/secret_book.hpp"
#include "server/store_pulse.hpp"
#include "server/stores.hpp"
#include "server/system_zones.hpp"
#include "server/worker_pool.hpp"

namespace muster::server {
namespace {

constexpr std::size_t kWorkers = 4;
constexpr Duration kSweep = std::chrono::seconds(15);
constexpr Duration kSchemaLook = std::chrono::seconds(2);
constexpr Duration kUploadsKept = std::chrono::hours(7 * 24);  // that nobody goes on with

constexpr const char* kPackagedConfig = "/etc/muster/musterd.yaml";

// Reads file, variables and flags over the defaults; again at each SIGHUP.
using Load = std::function<Result<Config>()>;

// Ten thousand links need ten thousand descriptors; the soft limit is often 1024.
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

net::ServerOptions NetOptions(const Config& config, const HostPort& listen,
                              const Identity& identity) {
  net::ServerOptions options;
  options.address = listen.host;
  options.port = listen.port;
  options.key_pem = identity.server.key_pem;
  options.chain_pem = identity.Chain();
  options.client_ca_pem = identity.trusted_pem;
  options.limits = config.limits;
  options.limits.link_silence = config.heartbeat * 3 + std::chrono::seconds(5);
  return options;
}

engine::Pipeline::Settings EngineSettings(const Config& config) {
  engine::Pipeline::Settings settings;
  settings.engine.heartbeat = config.heartbeat;
  settings.engine.order_life = config.order_life;
  settings.engine.reconnect_bound = config.reconnect_bound;
  settings.engine.takeover_grace = config.takeover_grace;
  settings.engine.zones = std::make_shared<SystemZones>();
  return settings;
}

// What agents will be told to use must be something they can use.
Result<> CheckPublicUrl(const std::string& url) {
  if (url.empty()) return {};
  const auto endpoint = net::ParseEndpoint(url);
  if (!endpoint) return Fail(ErrorCode::kInvalid, "public URL: {}", endpoint.error().message);
  if (!endpoint->tls)
    return Fail(ErrorCode::kInvalid, "public URL '{}': agents speak TLS only; write https://…",
                url);
  return {};
}

CertificateSettings CertificatesOf(const Config& config, const HostPort& listen) {
  return {.listen_host = listen.host,
          .public_url = config.public_url,
          .agent_life = config.agent_life,
          .server_life = config.server_life,
          .tls_cert = config.tls_cert,
          .tls_key = config.tls_key};
}

Result<Gateway::Office> OfficeOf(const Identity& identity, Duration agent_life) {
  const auto signer = crypto::CaKeyId(identity.ca.cert_pem);
  if (!signer) return Fail(signer.error());
  const std::string trust = identity.NodesTrust();
  return Gateway::Office{
      .papers = {.ca_pem = trust, .signer = *signer, .cert_pem = {}},
      .trusts = link::ShortId(ToHex(crypto::Sha256(trust))),
      .sign = [&identity, agent_life](const std::string& request, const std::string& key,
                                      const std::string& host) {
        return SignForNode(identity, request, key, host, agent_life);
      }};
}

// Takes over what a running server can. Whoever reads a live setting only at its start is told
// here.
void Reload(Config& running, const Load& load, LogRing& log, outside::CurlActions& actions) {
  auto fresh = load();
  if (!fresh) return spdlog::error("not reloaded, the settings stay: {}", fresh.error().message);
  const auto changes = settings::TakeLive(Describe(running), Describe(*fresh));
  for (const auto& change : changes) spdlog::info("reload {}", settings::Sentence(change));
  log.SetLevel(running.log_level);
  if (const auto used = actions.Use(running.outside); !used)
    spdlog::error("outside: {}; what was in force stays", used.error().message);
  spdlog::info("reloaded changes={}", changes.size());
}

std::vector<base::Activity::View> ActivitiesOf(const base::Activity& network,
                                               const EngineThread& engine, const Stores& stores,
                                               const WorkerPool& workers) {
  std::vector<base::Activity::View> views{network.Look(), engine.GetActivity()};
  for (auto more : {stores.activities(), workers.Activities()})
    views.insert(views.end(), more.begin(), more.end());
  return views;
}

Member SelfOf(const Config& config, const HostPort& listen) {
  return {.name = NameOf(config),
          .url = config.public_url.empty() ? fmt::format("https://{}:{}", listen.host, listen.port)
                                           : config.public_url,
          .version = kVersion,
          .labels = config.cluster.labels};
}

// Output that another server keeps is read from where both keep it, if somebody watches.
void ShowStored(StreamHub& hub, LogStore& logs, WorkerPool& workers, const StoredOutput& output) {
  if (!hub.HearOfOutput(output.task.run)) return;
  workers.Post(
      [&hub, &logs, output] {
        const auto chunks = logs.Read(output.task, output.from, output.end - output.from);
        if (chunks) hub.TakeOutput(*chunks);
      },
      "show output");
}

// Wires the parts in the order they depend on each other; destruction runs the other way.
Result<> Serve(Config config, const Load& load, LogRing& log) {
  const auto listen = ParseListen(config.listen);
  if (!listen) return Fail(listen.error());
  if (const auto usable = CheckPublicUrl(config.public_url); !usable) return usable;
  if (const auto ended = CheckRestoreEnded(config.data); !ended) return ended;
  if (config.store.postgres.empty())
    if (const auto here = CheckNotMoved(config.data); !here) return here;
  const auto disk_floor = ParseDiskFloor(config.disk_floor);
  if (!disk_floor) return Fail(disk_floor.error());
  SystemClock clock;
  const auto certificates = CertificatesOf(config, *listen);
  const auto identity = LoadIdentity(config.data, certificates, clock.Read().wall);
  if (!identity) return Fail(identity.error());
  auto office = OfficeOf(*identity, config.agent_life);
  if (!office) return Fail(office.error());
  if (const auto fits = CheckCluster(config); !fits) return fits;
  auto stores = OpenStores(config, clock);
  if (!stores) return Fail(stores.error());
  Store& store = *stores->records;
  LogStore& logs = *stores->logs;
  const auto coordinator = OpenCoordinator(config, clock);
  if (!coordinator) return Fail(coordinator.error());
  const Member self = SelfOf(config, *listen);
  const auto sealer = crypto::Sealer::Open(config.data / "seal.key");
  if (!sealer) return Fail(sealer.error());
  SecretBook secrets(*sealer);
  const FindSecret find_secret = [&secrets](std::string_view name) { return secrets.Find(name); };
  auto actions = outside::CurlActions::Make(config.outside, clock);
  if (!actions) return Fail(actions.error());
  auto artifacts = FileArtifacts::Open(config.data / "artifacts", clock, {});
  if (!artifacts) return Fail(artifacts.error());
  if (const auto dropped = (*artifacts)->DropUploads(clock.Read().wall + -kUploadsKept); !dropped)
    spdlog::warn("artifacts: {}", dropped.error().message);

  net::EventLoop loop;
  base::Activity network("network");
  network.Attach();
  WorkerPool workers(kWorkers);
  LiveView live;
  StreamHub hub(live, [&store](RunId id) -> std::optional<Run> {
    const auto found = store.FindRun(id);
    return found ? found->value : std::nullopt;
  });
  live.SetWatcher([&hub](const std::vector<engine::News>& news) { hub.TakeNews(news); });
  Cluster* cluster_of_gateway = nullptr;
  Gateway gateway(loop, store, logs, clock, workers, [&](const std::vector<LogChunk>& chunks) {
    if (cluster_of_gateway->Stored(chunks)) hub.TakeOutput(chunks);
  });
  Authenticator authenticator(identity->admin_token);
  RunResults results(store, [&live](RunId run) {
    auto open = live.FindRun(run, true);
    return open ? std::move(open->states) : std::vector<std::uint8_t>();
  });
  WatchedStore watched(store, {.committed = [&results](const Batch& batch) { results.Take(batch); },
                               .loading =
                                   [&results, &live, &hub] {
                                     results.Forget();
                                     live.Forget();
                                     hub.Forget();
                                   }});
  EngineThread* leader = nullptr;
  ClockJudge judge;
  Followers followers(
      loop, gateway, store, clock, workers, find_secret,
      {.submit = [&leader](engine::Command command) { leader->Submit(std::move(command)); },
       .stored = [&](const StoredOutput& output) { ShowStored(hub, logs, workers, output); },
       .why_not = [&leader] { return leader->GetStatus().reason; },
       .clock = [&judge, &clock](
                    const std::string& name,
                    Duration ahead) { judge.FollowerSaid(name, ahead, clock.Read()); }});
  EngineThread engine(
      watched, followers, **coordinator, clock,
      [&live, &authenticator, &secrets, &results](std::vector<engine::News> news) {
        for (const auto& one : news) {
          if (const auto* people = std::get_if<engine::TokenNews>(&one))
            authenticator.Take(people->tokens, people->dropped, people->all);
          if (const auto* values = std::get_if<engine::SecretNews>(&one)) secrets.Take(*values);
        }
        results.Take(news);
        live.Take(std::move(news));
      },
      EngineSettings(config), self.name);
  leader = &engine;
  StorePulse pulse(store, clock, judge, [&engine] { engine.Look(); });
  if (!config.cluster.etcd.empty()) {
    engine.SetJudge(judge);
    engine.SetPulse(pulse);
  }
  MemberIdentity member(identity->ca, identity->NodesTrust(), self.name, clock);
  const auto show_member = [&member] { return member.Get(); };
  Cluster cluster(
      loop, **coordinator, gateway, clock, judge,
      {.self = self, .identity = show_member, .send_away_after = config.cluster.send_away_after},
      {.submit = [&engine](engine::Command command) { engine.Submit(std::move(command)); },
       .stand_by = [&engine](bool wanted) { engine.StandBy(wanted); },
       .links = [&gateway] { return gateway.LinkCount(); },
       .engine_leads = [&engine] { return engine.Decides(); },
       .engine_trouble = [&engine] { return engine.GetStatus().reason; },
       .say_goodbye =
           [&gateway](Duration over, std::function<bool()> still) {
             gateway.SayGoodbye(over, std::move(still));
           },
       .cannot_lead = [&engine] { return engine.CannotLead(); }});
  cluster_of_gateway = &cluster;
  SchemaWatch schema(store, self.version,
                     {.members = [&coordinator] { return (*coordinator)->Members(); },
                      .unfit = [&cluster](const std::string& why) { cluster.SetUnfit(why); }});
  gateway.SetOffice(std::move(*office));
  gateway.SetSendsAway([&cluster] { return cluster.SendsAway(); });
  const auto submit = [&engine](engine::Command command) { engine.Submit(std::move(command)); };
  gateway.SetSubmit([&cluster](engine::Command command) { cluster.Submit(std::move(command)); });
  // A server that is alone knows only how it was reached itself, and so does each node.
  if (!config.cluster.etcd.empty()) gateway.SetServers([&cluster] { return cluster.Urls(); });
  gateway.SetSecrets(find_secret, [&secrets, &store] {
    if (const auto loaded = secrets.Load(store); !loaded)
      spdlog::error("secrets: {}", loaded.error().message);
  });
  api::DocumentChannels channels(store);
  OutsideWork outside_work({.actions = **actions,
                            .channels = channels,
                            .find_secret = find_secret,
                            .public_url = config.public_url,
                            .submit = submit},
                           workers);
  Keeper data_keeper(
      store, logs, **artifacts, engine, clock,
      {.data = config.data, .retention = config.retention, .disk_floor = *disk_floor});
  FailureWatch failures({.per_minute = static_cast<std::uint32_t>(config.failures_per_minute)},
                        [](const std::string& line) { spdlog::warn("{}", line); });
  api::Refusals refusals(failures, clock, [&loop](Duration delay, std::function<void()> work) {
    loop.Post([&loop, delay, work = std::move(work)] { loop.After(delay, work); });
  });
  const auto link_refused = [&](std::string_view source) {
    failures.Failed(source, Failure::kLink, clock.Read().mono);
  };
  gateway.SetRefused([&](const std::string& remote) { link_refused(net::SourceOf(remote)); });
  net::Server* net_server = nullptr;
  CertificateKeeper keeper(config.data, certificates, *identity, clock);
  SharedArtifacts shared_files(
      **artifacts, {.urls = [&cluster] { return cluster.OtherUrls(); }, .identity = show_member});
  api::Services services{
      .store = store,
      .logs = logs,
      .engine = engine,
      .live = live,
      .hub = hub,
      .clock = clock,
      .identity = *identity,
      .people = authenticator,
      .refusals = refusals,
      .openapi = kOpenApi,
      .connections =
          [&net_server] { return net_server == nullptr ? 0 : net_server->Connections(); },
      .links = [&gateway] { return gateway.LinkCount(); },
      .public_url = config.public_url,
      .agent_life = config.agent_life,
      .server_cert_ends = [&keeper] { return keeper.ServerEnds(); },
      .log = log,
      .activities = [&] { return ActivitiesOf(network, engine, *stores, workers); },
      .keeper = data_keeper,
      .artifacts = shared_files,
      .results = results,
      .not_ready = [&cluster] { return cluster.NotReady(); },
      .finalize_due = [&schema] { return schema.Get().FinalizeDue(); },
      .standing = [&cluster, &judge, &clock]() -> api::Services::Standing {
        return {.sends_away = cluster.SendsAway(), .clock_ahead = judge.Ahead(clock.Read())};
      }};
  api::TriggerPlanner planner(services, workers);
  engine.SetServerWork(
      {.orders =
           [&outside_work](std::vector<engine::ServerOrder> orders) {
             outside_work.Take(std::move(orders));
           },
       .stops = [&outside_work](const std::vector<TaskKey>& tasks) { outside_work.Stop(tasks); },
       .slots = [&planner](
                    std::vector<engine::PrepareSlot> slots) { planner.Prepare(std::move(slots)); },
       .fetches =
           [&planner](std::vector<engine::FetchTriggers> fetches) {
             planner.Fetch(std::move(fetches));
           },
       .ended =
           [&followers, &hub] {
             followers.Dismiss();
             hub.Forget();
           }});
  api::ArtifactServices files{.own = **artifacts,
                              .shared = shared_files,
                              .workers = workers,
                              .ask = api::AskEngine(engine)};
  PeopleOnRecord on_record(
      store, identity->admin_token,
      {.to_worker =
           [&workers](std::function<void()> work) {
             return workers.Post(std::move(work), "read tokens");
           },
       .to_loop = [&loop](std::function<void()> work) { loop.Post(std::move(work)); }});
  api::Router router(authenticator, refusals, workers, clock);
  for (auto* routes : {api::RunRoutes, api::SteeringRoutes, api::DocumentRoutes, api::JobRoutes,
                       api::TaskRoutes, api::ResultRoutes, api::HostRoutes, api::AgentRoutes,
                       api::FleetRoutes, api::SystemRoutes, api::TokenRoutes, api::AuditRoutes,
                       api::DebugRoutes, api::FreezeRoutes, api::TriggerRoutes, api::CheckRoutes})
    router.Add(routes(services));

  router.Add(api::ArtifactRoutes(files));
  api::SearchServices searches{.store = store, .logs = logs, .workers = workers};
  router.Add(api::SearchRoutes(searches));
  api::SecretServices sealed{.store = store, .engine = engine, .sealer = *sealer};
  router.Add(api::SecretRoutes(sealed));
  api::ServerServices servers{.common = services,
                              .cluster = cluster,
                              .followers = followers,
                              .name = self.name,
                              .keys = [&config] { return PackClusterKeys(config.data); },
                              .schema = schema,
                              .workers = workers};
  router.Add(api::ServerRoutes(servers));

  auto server = net::Server::Listen(
      loop, NetOptions(config, *listen, *identity),
      {.on_http =
           [&](net::HttpRequest request, std::shared_ptr<net::HttpExchange> exchange) {
             const base::Activity::Work mark(network, "request");
             const auto answers =
                 cluster.PassOn(request, exchange, [&] { return router.IsOnRecord(request); });
             if (answers == Cluster::Answers::kHere)
               router.Handle(std::move(request), std::move(exchange));
             else if (answers == Cluster::Answers::kRecord)
               router.HandleOnRecord(on_record, std::move(request), std::move(exchange));
             else if (answers == Cluster::Answers::kNobody)
               router.NobodyLeads(std::move(request), std::move(exchange), cluster.NotReady());
           },
       .streams_body = api::StreamsBody,
       .on_link =
           [&](std::shared_ptr<net::LinkConnection> link) {
             const base::Activity::Work mark(network, "new link");
             if (link->PeerServer().empty())
               gateway.OnLink(std::move(link));
             else
               followers.OnLink(std::move(link));
           },
       .on_frame =
           [&](net::LinkConnection& link, const std::string& frame) {
             const base::Activity::Work mark(network, "frame");
             if (link.PeerServer().empty())
               gateway.OnFrame(link, frame);
             else
               followers.OnFrame(link, frame);
           },
       .on_link_closed =
           [&](net::LinkConnection& link) {
             if (link.PeerServer().empty())
               gateway.OnClosed(link);
             else
               followers.OnClosed(link);
           },
       .on_refused =
           [&](std::string_view source, std::string_view why) {
             link_refused(source);
             spdlog::debug("refused source={} reason=\"{}\"", source, why);
           },
       .on_warning = [](std::string_view message) { spdlog::warn("net {}", message); }});
  if (!server) return Fail(server.error());
  net_server = server->get();
  data_keeper.Start();
  cluster.Start();
  if (const auto started = engine.Start(); !started) return started;
  if (!config.cluster.etcd.empty()) pulse.Start();
  spdlog::info("musterd {} listens on {}:{} data={}", kVersion, listen->host, (*server)->Port(),
               config.data.string());
  if (identity->fresh)
    spdlog::info(
        "first start: made CA, certificate and {}; whoever loses the CA key in this folder loses "
        "every agent, so back it up now: musterd backup FILE --data {}",
        (config.data / "admin.token").string(), config.data.string());

  keeper.Start(loop, **server);
  const std::function<void()> sweep = [&] {
    hub.Sweep([&, now = clock.Read().wall](const std::string& token) {
      return authenticator.Usable(token, now);
    });
    failures.Sweep(clock.Read().mono);
    loop.After(kSweep, sweep);
  };
  loop.After(kSweep, sweep);
  const std::function<void()> look = [&] {
    workers.Post(
        [&] {
          (void)schema.Look();  // a store that does not answer is told of elsewhere
          loop.Post([&] { loop.After(kSchemaLook, look); });
        },
        "look at the schema");
  };
  look();
  loop.OnSignal({SIGHUP}, [&](int) { Reload(config, load, log, **actions); });
  loop.OnSignal({SIGTERM, SIGINT}, [&](int signal) {
    NotifyService("STOPPING=1");
    spdlog::info("shutting down signal={}", signal);
    (*server)->StopAccepting();
    hub.Shutdown();
    // The batch in hand is finished off this thread: its effects still need the loop.
    workers.Post([&] {
      data_keeper.Stop();
      engine.Stop();
      loop.Post([&loop] { loop.Stop(); });
    });
  });
  NotifyService("READY=1");
  loop.Run();
  pulse.Stop();
  data_keeper.Stop();
  engine.Stop();
  (*coordinator)->Resign();
  workers.Stop();
  (*actions)->Stop();
  // Their threads call into the gateway and the engine: they end first.
  stores->logs.reset();
  stores->records.reset();
  spdlog::info("stopped");
  return {};
}

}  // namespace
}  // namespace muster::server

int main(int argc, char** argv) {
  using muster::server::Config;
  if (argc >= 2 && std::string_view(argv[1]) == "ca")
    return muster::server::RunCaCommand(argc - 1, argv + 1);
  if (argc >= 2 && std::string_view(argv[1]) == "backup")
    return muster::server::BackupMain(argc - 1, argv + 1);
  if (argc >= 2 && std::string_view(argv[1]) == "restore")
    return muster::server::RestoreMain(argc - 1, argv + 1);
  if (argc >= 2 && std::string_view(argv[1]) == "store")
    return muster::server::StoreMain(argc - 1, argv + 1);
  if (argc >= 2 && std::string_view(argv[1]) == "join")
    return muster::server::JoinMain(argc - 1, argv + 1);
  const bool check = argc >= 2 && std::string_view(argv[1]) == "check-config";
  CLI::App app(
      "musterd: the Muster server. One port for the API, agents' links, /metrics and health.\n\n"
      "Examples:\n"
      "  musterd --data /var/lib/muster --listen 127.0.0.1:8440\n"
      "  musterd --config /etc/muster/musterd.yaml --public-url https://muster.example:8440\n"
      "  musterd ca --help                     (the cluster's CA, and how to change it)\n"
      "  musterd backup FILE                   (records, CA, keys and tokens, while it runs)\n"
      "  musterd restore FILE --data DIR       (a data folder from a backup)\n"
      "  musterd store copy --to postgres://…  (from the data folder into PostgreSQL)\n"
      "  musterd join --server URL --join T    (a place in a cluster)\n"
      "  musterd check-config                  (says what is wrong, or in force)");
  Config flags;
  std::string config_file;
  std::string data;
  app.add_option("--data", data,
                 "Data folder: records, logs, keys (default /var/lib/muster, MUSTER_DATA)");
  app.add_option("--listen", flags.listen,
                 "Address and port (default 127.0.0.1:8440, MUSTER_LISTEN)");
  app.add_option("--config", config_file, "YAML file with settings (MUSTER_CONFIG)")
      ->envname("MUSTER_CONFIG");
  app.add_option("--public-url", flags.public_url,
                 "URL that agents and people use; its name goes into the certificate");
  app.add_option("--log-level", flags.log_level, "debug, info, warn, error")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
  app.set_version_flag("--version", std::string("musterd ") + muster::kVersion);
  try {
    if (check)
      app.parse(argc - 1, argv + 1);
    else
      app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : 2;
  }

  const auto fail = [](const muster::Error& error) {
    std::fprintf(stderr, "musterd: %s\n", error.message.c_str());
    return error.code == muster::ErrorCode::kInvalid || error.code == muster::ErrorCode::kNotFound
               ? 2
               : 1;
  };
  if (check && config_file.empty()) config_file = muster::server::kPackagedConfig;
  const muster::server::Load load = [&]() -> muster::Result<Config> {
    Config config;
    if (!config_file.empty())
      if (const auto read = muster::server::ReadConfigFile(config_file, config); !read)
        return muster::Fail(read.error());
    if (const auto read = muster::server::ReadConfigEnvironment(config); !read)
      return muster::Fail(read.error());
    if (!data.empty()) config.data = data;
    if (app.count("--listen") > 0) config.listen = flags.listen;
    if (app.count("--public-url") > 0) config.public_url = flags.public_url;
    if (app.count("--log-level") > 0) config.log_level = flags.log_level;
    return config;
  };
  auto config = load();
  if (!config) return fail(config.error());
  if (check) {
    std::fputs(muster::settings::Print(muster::server::Describe(*config)).c_str(), stdout);
    return 0;
  }

  ::umask(077);  // records hold scripts and environments
  const auto log = muster::server::LogRing::Install(config->log_level);
  muster::server::RaiseDescriptorLimit();
  if (const auto served = muster::server::Serve(*config, load, *log); !served)
    return fail(served.error());
  return 0;
}
