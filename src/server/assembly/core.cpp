#include "server/assembly/core.hpp"

#include <utility>

#include <spdlog/spdlog.h>

#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"
#include "link/certificates.hpp"
#include "server/assembly/system_zones.hpp"

namespace muster::server {
namespace {

constexpr std::size_t kWorkers = 4;
constexpr Duration kSchemaLook = std::chrono::seconds(2);
constexpr Duration kCaLook = std::chrono::seconds(1);
constexpr Duration kNoteHeard{500};
// A node gets one certificate in so long. An agent asks again for one that does not come after a
// fiftieth of its life at the earliest.
constexpr Duration kRenewEvery = std::chrono::minutes(1);
constexpr int kRenewsPerLife = 50;

engine::Pipeline::Settings EngineSettings(const Config& config) {
  engine::Pipeline::Settings settings;
  settings.engine.heartbeat = config.heartbeat;
  settings.engine.order_life = config.order_life;
  settings.engine.reconnect_bound = config.reconnect_bound;
  settings.engine.takeover_grace = config.takeover_grace;
  settings.engine.zones = std::make_shared<SystemZones>();
  return settings;
}

// Whoever sets the collector's address decides on every machine anyway: any address will do.
Result<std::unique_ptr<ServerActions>> WayToCollector(const TraceSettings& settings,
                                                      const Clock& clock) {
  auto actions = outside::CurlActions::Make(
      {.allow = {"0.0.0.0/0", "::/0"}, .deny = {}, .ca_file = settings.ca_file}, clock);
  if (!actions) return Fail(actions.error());
  return std::unique_ptr<ServerActions>(std::move(*actions));
}

}  // namespace

Core::Core(Foundation& under)
    : foundation(under),
      store(*under.stores.records),
      logs(*under.stores.logs),
      workers(kWorkers),
      hub(live,
          [this](RunId id) -> std::optional<Run> {
            const auto found = store.FindRun(id);
            return found ? found->value : std::nullopt;
          }),
      secrets(*under.sealer),
      gateway(loop, store, logs, under.clock, workers,
              [this](const std::vector<LogChunk>& chunks) {
                if (cluster.Stored(chunks)) hub.TakeOutput(chunks);
              }),
      people(under.identity->admin_token),
      results(store,
              [this](RunId run) {
                auto open = live.FindRun(run, true);
                return open ? std::move(open->states) : std::vector<std::uint8_t>();
              }),
      declared(store),
      watched(store, {.committed =
                          [this](const Batch& batch) {
                            results.Take(batch);
                            declared.Take(batch);
                            job_runs.Take(batch);
                            channel_book.Take(batch);
                          },
                      .loading =
                          [this] {
                            results.Forget();
                            declared.Forget();
                            job_runs.Forget();
                            live.Forget();
                            hub.Forget();
                          },
                      .loaded =
                          [this](const Snapshot& snapshot) {
                            channel_book.Load(snapshot.notices, foundation.clock.Read().wall);
                          }}),
      tickets(under.identity->ca.key_pem, under.self.name),
      followers(
          loop, gateway, store, under.clock, workers, FindSecrets(), tickets,
          {.submit = [this](engine::AnyCommand command) { engine.Submit(std::move(command)); },
           .stored = [this](const StoredOutput& output) { ShowStored(output); },
           .why_not = [this] { return engine.GetStatus().reason; },
           .proven = [this](ServerFacts facts) { cluster.Proven(std::move(facts)); },
           .clock =
               [this](const std::string& name, Duration ahead) {
                 judge.FollowerSaid(name, ahead, foundation.clock.Read());
               },
           .heard = [this](const std::vector<HeardHost>& hosts) { live.Heard(hosts); }}),
      traces(store, under.self.name,
             [&under](const TraceSettings& settings) {
               return WayToCollector(settings, under.clock);
             }),
      engine(
          watched, followers, *under.coordinator, under.clock,
          [this](std::vector<engine::News> news) { TakeNews(std::move(news)); },
          EngineSettings(under.config), under.self.name),
      pulse(store, under.clock, judge, [this] { engine.Look(); }),
      member(under.identity->ca, under.identity->trusted_pem, under.self.name, under.clock),
      cluster(loop, *under.coordinator, gateway, under.clock, judge,
              {.self = under.self,
               .identity = [this](const std::string& name) { return member.For(name); },
               .trusted_cas = under.identity->trusted_pem,
               .cas = under.identity->ca_ids,
               .id = [this] { return pulse.Cluster(); },
               .send_away_after = under.config.cluster.send_away_after},
              {.submit = [this](engine::AnyCommand command) { engine.Submit(std::move(command)); },
               .stand_by = [this](bool wanted) { engine.StandBy(wanted); },
               .links = [this] { return gateway.LinkCount(); },
               .engine_leads = [this] { return engine.Decides(); },
               .engine_trouble = [this] { return engine.GetStatus().reason; },
               .say_goodbye =
                   [this](Duration over, std::function<bool()> still) {
                     gateway.SayGoodbye(over, std::move(still));
                   },
               .cannot_lead = [this] { return engine.CannotLead(); },
               .reaches_store = [this] { return pulse.Trouble().empty(); },
               .hosts = [this] { return HostsByCa(); },
               .publish = [this](ClusterFacts facts) { followers.Publish(std::move(facts)); }}),
      schema(store, under.self.version,
             {.members = [this] { return foundation.coordinator->Members(); },
              .unfit = [this](const std::string& why) { cluster.SetUnfit(why); }}),
      channels(store),
      outside({.actions = *under.actions,
               .channels = channels,
               .find_secret = FindSecrets(),
               .public_url = under.config.public_url,
               .trace = [this](const TaskKey& task) -> std::string {
                 if (!traces.On()) return "";
                 const auto place = PlaceOf(store, task);
                 return place ? FormatTraceParent(*place) : "";
               },
               .attempted =
                   [this](const std::string& channel, const std::optional<TaskKey>& notice,
                          const ServerOutcome& outcome) {
                     channel_book.TakeAttempt(channel, notice, outcome,
                                              foundation.clock.Read().wall);
                   },
               .submit = [this](engine::AnyCommand command) { engine.Submit(std::move(command)); }},
              workers) {
  network.Attach();
  engine.SetDataFolder(under.config.data.string());
  live.SetWatcher([this](const std::vector<engine::News>& news) { hub.TakeNews(news); });
  gateway.SetSubmit([this](engine::AnyCommand command) { cluster.Submit(std::move(command)); });
  gateway.SetRevoked([this](const std::string& key) { return live.Revoked(key); });
  gateway.SetSendsAway([this] { return cluster.SendsAway(); });
  gateway.SetSecrets(FindSecrets(), [this] {
    if (const auto loaded = secrets.Load(store); !loaded)
      spdlog::error("secrets: {}", loaded.error().message);
  });
  // A server that is alone knows only how it was reached itself, and so does each node; and its
  // store is its own.
  if (!under.Clustered()) return;
  gateway.SetServers([this] { return cluster.Urls(); });
  engine.SetJudge(judge);
  engine.SetPulse(pulse);
}

FindSecret Core::FindSecrets() {
  return [this](std::string_view name) { return secrets.Find(name); };
}

Result<> Core::OpenOffice() {
  const Identity& identity = *foundation.identity;
  const auto signer = crypto::CaKeyId(identity.ca.cert_pem);
  if (!signer) return Fail(signer.error());
  const std::string& trust = identity.trusted_pem;
  gateway.SetOffice(
      {.papers = {.ca_pem = trust, .signer = *signer, .cert_pem = {}},
       .trusts = link::ShortId(ToHex(crypto::Sha256(trust))),
       .every = std::min<Duration>(kRenewEvery, foundation.config.agent_life / kRenewsPerLife),
       .sign = [&identity, life = foundation.config.agent_life](
                   const std::string& request, const std::string& key, const std::string& host) {
         return SignForNode(identity, request, key, host, life);
       }});
  return {};
}

void Core::TakeNews(std::vector<engine::News> news) {
  for (const auto& one : news) {
    if (const auto* tokens = std::get_if<engine::TokenNews>(&one))
      people.Take(tokens->tokens, tokens->dropped, tokens->all);
    if (const auto* values = std::get_if<engine::SecretNews>(&one)) secrets.Take(*values);
  }
  results.Take(news);
  traces.Take(news);
  live.Take(std::move(news));
}

// Output that another server keeps is read from where both keep it, if somebody watches.
void Core::ShowStored(const StoredOutput& output) {
  if (!hub.HearOfOutput(output.task.run)) return;
  workers.Post(
      [this, output] {
        for (std::uint64_t at = output.from; at < output.end;) {
          const auto chunks = logs.Read(output.task, at, output.end - at);
          if (!chunks || chunks->empty()) return;
          hub.TakeOutput(*chunks);
          at = chunks->back().offset + chunks->back().data.size();
        }
      },
      "show output");
}

Result<> Core::Start() {
  if (const auto used = traces.Use(foundation.config.traces); !used) return used;
  cluster.Start();
  NoteCas();
  TellOfKeys();
  if (const auto started = engine.Start(); !started) return started;
  if (foundation.Clustered()) pulse.Start();
  LookAtSchema();
  NoteHeard();
  return {};
}

void Core::NoteHeard() {
  // What the nodes of a follower say, its leader is told with each beat.
  if (gateway.HeardBy() == Hearing::By::kThisServer) live.Heard(gateway.TakeHeard(SIZE_MAX));
  loop.After(kNoteHeard, [this] { NoteHeard(); });
}

void Core::LookAtSchema() {
  const auto again = [this] { loop.After(kSchemaLook, [this] { LookAtSchema(); }); };
  const bool posted = workers.Post(
      [this, again] {
        (void)schema.Look();  // a store that does not answer is told of elsewhere
        loop.Post(again);
      },
      "look at the schema");
  if (!posted) again();
}

// Only a change of the CA needs it.
std::vector<HostsOfCa> Core::HostsByCa() const {
  std::vector<HostsOfCa> groups;
  if (foundation.identity->ca_ids.size() < 2) return groups;
  live.WithHosts(
      [&](const std::vector<const Host*>& hosts, const auto&) { groups = GroupByCa(hosts); });
  return groups;
}

void Core::NoteCas() {
  const auto again = [this] { loop.After(kCaLook, [this] { NoteCas(); }); };
  const Identity& identity = *foundation.identity;
  if (auto facts = cluster.Facts()) {
    CaState state{.server = foundation.self.name,
                  .cas = identity.ca_ids,
                  .trusts = link::ShortId(ToHex(crypto::Sha256(identity.trusted_pem))),
                  .cluster = std::move(*facts),
                  .written = foundation.clock.Read().wall};
    if (IsCaStateNews(ca_state_, state)) {
      ca_state_ = state;
      const bool posted = workers.Post(
          [this, again, state = std::move(state)] {
            if (const auto kept = WriteCaState(foundation.config.data, state); !kept)
              spdlog::error("{}", kept.error().message);
            loop.Post(again);
          },
          "note the CAs");
      if (posted) return;
    }
  }
  again();
}

void Core::TellOfKeys() {
  if (foundation.key_news.empty()) return;
  engine.Ask(engine::NoteKeys{.caller = {.request = {}, .name = "musterd", .address = {}},
                              .server = foundation.self.name,
                              .news = foundation.key_news},
             [this](const Result<engine::Done>& answer) {
               if (answer || answer.error().code != ErrorCode::kUnavailable) return;
               loop.Post([this] { loop.After(kCaLook, [this] { TellOfKeys(); }); });
             });
}

void Core::Stop() {
  pulse.Stop();
  engine.Stop();
  foundation.coordinator->Resign();
  traces.Stop();  // may take a moment, which nobody shall wait for who could lead
  workers.Stop();
  foundation.actions->Stop();
  // Their threads call into the gateway and the engine: they end first.
  foundation.stores.logs.reset();
  foundation.stores.records.reset();
}

std::vector<base::Activity::View> Core::Activities() const {
  std::vector<base::Activity::View> views{network.Look(), engine.GetActivity()};
  if (traces.On()) views.push_back(traces.GetActivity());
  for (auto more : {foundation.stores.activities(), workers.Activities()})
    views.insert(views.end(), more.begin(), more.end());
  return views;
}

}  // namespace muster::server
