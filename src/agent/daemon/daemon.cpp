#include "agent/daemon/daemon.hpp"

#include <cstring>

#include <spdlog/spdlog.h>

#include "adapters/crypto/digest.hpp"
#include "agent/host/clocks.hpp"
#include "agent/host/facts.hpp"
#include "agent/host/resident.hpp"
#include "domain/features.hpp"
#include "link/codec/codec.hpp"

namespace muster::agent {
namespace {

constexpr Duration kTick{1000};
constexpr Duration kConnectTimeout = std::chrono::seconds(20);
// When there are others to try; more than a busy server takes for a handshake.
constexpr Duration kShortConnectTimeout = std::chrono::seconds(10);
// For an address at which no server has been found yet.
constexpr Duration kUntestedConnectTimeout = std::chrono::seconds(5);
constexpr std::size_t kMostUnsent = 1 << 20;

// How long after a connect or the start of a task the agent counts as idle.
constexpr Duration kSettled = std::chrono::seconds(2);
constexpr Duration kIdle = std::chrono::minutes(1);

std::uint64_t Random() {
  const std::string bytes = crypto::RandomBytes(8);
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

std::vector<std::string> FeaturesOf(const Cgroups& cgroups) {
  std::vector<std::string> features = {kFeatureReboot, kFeatureFiles};
  for (const Resource resource : kResources) {
    if (const auto& why_not = cgroups.WhyNot(resource))
      spdlog::warn("tasks cannot be limited in {}: {}", Name(resource), *why_not);
    else
      features.push_back(Feature(resource));
  }
  return features;
}

net::TlsIdentity LinkIdentity(const Credentials& credentials) {
  return {.ca_pem = credentials.ca_pem,
          .key_pem = credentials.key_pem,
          .cert_pem = credentials.cert_pem,
          .cluster = true};
}

TaskEnd RefusedEnd(const Error& why) {
  TaskEnd end;
  end.state = TaskState::kRefused;
  end.reason = why.message;
  end.ended = end.started = WallNow();
  end.log = LogTotals{.stdout_sha256 = kEmptySha256, .stderr_sha256 = kEmptySha256};
  return end;
}

}  // namespace

Daemon::Daemon(net::EventLoop& loop, DataFolder& folder, Credentials credentials, Options options)
    : loop_(loop),
      folder_(folder),
      papers_(folder, std::move(credentials)),
      options_(std::move(options)),
      runner_({.data = folder.Path(),
               .spawner = options_.spawner,
               .run_as = options_.run_as,
               .cgroups = options_.cgroups,
               .max_spool = options_.max_spool},
              {.on_output = [this](const TaskKey& task,
                                   std::uint64_t spooled) { node_->Output(task, spooled); },
               .on_end =
                   [this](const TaskKey& task, const TaskEnd& end) {
                     spdlog::info("task ended task={} state={} exit={}", FormatTaskKey(task),
                                  Name(end.state), end.exit_code);
                     node_->Ended(task, end);
                   }}) {}

Result<> Daemon::Start() {
  auto known = LoadServers(folder_.Path());
  if (!known) return Fail(known.error());
  servers_.emplace(std::move(known->seed), std::move(known->given), std::move(known->told),
                   std::move(known->welcome));
  const auto held = runner_.Recover();
  if (!held) return Fail(held.error());
  node_.emplace(link::Node::Options{.version = options_.version,
                                    .features = FeaturesOf(options_.cgroups),
                                    .facts = {},
                                    .store = folder_.Who().store,
                                    .boot = runner_.Boot(),
                                    .proves =
                                        [this](const link::TermTicket& ticket) {
                                          return tickets_.Check(ticket, papers_.Current().ca_pem,
                                                                folder_.Who().cluster);
                                        }},
                folder_.HighestTerm());
  if (options_.history != nullptr)
    options_.history->Follow(*node_, folder_.Who().host, folder_.Who().store);
  for (const auto& task : *held) {
    spdlog::info("found again task={} state={} spooled={}", FormatTaskKey(task.task.task),
                 task.task.state == link::HeldState::kEnded ? "ended" : "running", task.spooled);
    node_->Restore(task.task, task.spooled);
  }
  loop_.WatchReadable(runner_.Descriptor(), [this] {
    runner_.Poll();
    Flush();
  });
  loop_.Post([this] { Connect(); });
  loop_.After(kTick, [this] { Tick(); });
  return {};
}

void Daemon::Connect() {
  leaving_ = false;
  const auto endpoint = net::ParseEndpoint(servers_->Current());
  const auto session = folder_.NextSession();
  if (!endpoint || !session) return OnClosed(endpoint ? session.error() : endpoint.error());
  const net::TlsIdentity identity = LinkIdentity(papers_.Current());
  const Duration timeout = servers_->Count() == 1 ? kConnectTimeout
                           : servers_->Tested()   ? kShortConnectTimeout
                                                  : kUntestedConnectTimeout;
  link_ =
      net::LinkClient::Connect(loop_, *endpoint, identity, "/api/v1/link", timeout,
                               {.on_open = [this, session = *session] { OnOpen(session); },
                                .on_frame = [this](const std::string& frame) { OnFrame(frame); },
                                .on_closed = [this](const Error& why) { OnClosed(why); }});
}

void Daemon::OnOpen(std::uint64_t session) {
  open_ = true;
  last_heard_ = BootNow().ms;
  SayHello(session);
  Flush();
}

void Daemon::SayHello(std::uint64_t session) {
  Labels facts = CollectFacts(options_.version);
  facts.merge(papers_.Facts());
  node_->SetFacts(std::move(facts));
  node_->SetHasOthers(servers_->HasOthers());
  node_->SayHello(session, BootNow().ms);
}

// What is new is told in a new Hello, so that the server's view of this host is right.
void Daemon::TakePapers(const link::Papers& papers) {
  const auto taken = papers_.Take(papers, WallNow());
  if (!taken) return spdlog::error("certificate from the server: {}", taken.error().message);
  if (!*taken) return;
  const auto session = folder_.NextSession();
  if (session) return SayHello(*session);
  spdlog::error("cannot begin a session: {}", session.error().message);
}

void Daemon::OnClosed(const Error& why) {
  if (std::exchange(leaving_, true)) return;  // a link that was left may still break
  const std::string lost = servers_->Current();
  const Duration delay = servers_->Lost(BootNow().ms, Random());
  spdlog::warn("no link to {}: {}; trying {} {}", lost, why.message,
               lost == servers_->Current() ? "again" : servers_->Current(),
               delay > Duration::zero() ? "in " + FormatDuration(delay) : "now");
  open_ = false;
  if (node_) node_->Disconnected();
  // The client is the caller: it must outlive this call.
  loop_.Post([this, delay] {
    link_.reset();
    loop_.After(delay, [this] { Connect(); });
  });
}

void Daemon::OnFrame(const std::string& bytes) {
  last_heard_ = BootNow().ms;
  const auto frame = link::DecodeServerFrame(bytes);
  if (!frame) {
    spdlog::error("the server sent what is not a frame: {}", frame.error().message);
    return;
  }
  const auto actions = node_->Receive(*frame, BootNow().ms);
  CarryOut(actions);
  if (actions.papers) TakePapers(*actions.papers);
  if (actions.goodbye && open_)
    return OnClosed({ErrorCode::kUnavailable, "it sends its hosts elsewhere"});
  Flush();
}

void Daemon::TakeServers(const std::vector<std::string>& servers) {
  std::vector<std::string> usable;
  for (const auto& server : servers) {
    const auto endpoint = net::ParseEndpoint(server);
    if (endpoint && endpoint->tls)
      usable.push_back(server);
    else
      spdlog::warn("the server names one that cannot be used: {}", server);
  }
  if (!servers_->Told(usable)) return;
  spdlog::info("the cluster's servers are {}", fmt::join(usable, ", "));
  if (const auto kept = folder_.SaveServers(usable); !kept)
    spdlog::error("cannot keep the cluster's servers: {}", kept.error().message);
}

void Daemon::CarryOut(const link::Node::Actions& actions) {
  if (actions.refused) {
    spdlog::error(
        "{} code={} message=\"{}\"",
        actions.refused_by_node ? "this agent refuses the server" : "the server refuses this agent",
        actions.refused->code, actions.refused->message);
    return OnClosed({ErrorCode::kDenied, actions.refused->message});
  }
  if (actions.new_term)
    if (const auto kept = folder_.RaiseTerm(*actions.new_term); !kept) {
      spdlog::error("cannot keep the term, so nothing is started: {}", kept.error().message);
    }
  if (actions.welcomed) {
    if (servers_->Welcomed(BootNow().ms))
      if (const auto kept = folder_.SaveWelcome(servers_->Current()); !kept)
        spdlog::error("cannot keep which server welcomed this host: {}", kept.error().message);
    idle_at_ = BootNow().ms + kSettled.count();
    heartbeat_ = actions.welcomed->heartbeat;
    next_beat_ = BootNow().ms + static_cast<std::int64_t>(
                                    Random() % static_cast<std::uint64_t>(heartbeat_.count() + 1));
    spdlog::info("welcomed host={} term={} session={} server={}", actions.welcomed->host_name,
                 actions.welcomed->term.value, actions.welcomed->session, servers_->Current());
  }
  TakeServers(actions.servers);
  if (actions.hello_again) {
    const auto session = folder_.NextSession();
    if (session)
      SayHello(*session);
    else
      spdlog::error("cannot begin a session: {}", session.error().message);
  }
  for (const auto& task : actions.forget) runner_.Forget(task);
  for (const auto& order : actions.start) StartTask(order);
  for (const auto& kill : actions.kill) runner_.Kill(kill.task, kill.grace);
}

void Daemon::StartTask(const link::Order& order) {
  // No order starts under a term that a crash could make us forget.
  const auto kept = folder_.RaiseTerm(node_->HighestTerm());
  const auto started = kept ? runner_.Start(order) : kept;
  idle_at_ = BootNow().ms + kIdle.count();
  if (started) {
    spdlog::info("task started task={}", FormatTaskKey(order.task));
    node_->Started(order.task);
  } else {
    spdlog::warn("task not started task={} reason=\"{}\"", FormatTaskKey(order.task),
                 started.error().message);
    node_->Ended(order.task, RefusedEnd(started.error()));
  }
}

void Daemon::Flush() {
  if (!open_) return;
  const auto read = [this](const TaskKey& task, std::uint64_t from, std::size_t limit) {
    return runner_.Read(task, from, limit);
  };
  while (link_->Unsent() < kMostUnsent) {
    const auto frame = node_->NextFrame(read);
    if (!frame) return;
    link_->Send(link::Encode(*frame));
  }
}

void Daemon::Tick() {
  runner_.Poll();
  const std::int64_t now = BootNow().ms;
  if (open_ && node_->Welcomed() && now >= next_beat_) {
    node_->QueueBeat(now);
    next_beat_ = now + heartbeat_.count();
  }
  if (open_ && node_->Welcomed())
    if (auto request = papers_.RequestDue(WallNow()); !request.empty()) {
      link::NodeFrame frame;
      frame.renew = std::move(request);
      link_->Send(link::Encode(frame));
    }
  Flush();
  if (idle_at_ != 0 && now >= idle_at_) {
    idle_at_ = 0;
    GiveBackMemory();
  }
  if (open_ && now - last_heard_ > 3 * heartbeat_.count() + 5000) {
    link_.reset();
    OnClosed({ErrorCode::kTimeout, "the server fell silent"});
  }
  loop_.After(kTick, [this] { Tick(); });
}

}  // namespace muster::agent
