#include "server/gateway/gateway.hpp"

#include <utility>

#include <spdlog/spdlog.h>

#include "link/papers.hpp"
#include "server/gateway/frame_check.hpp"
#include "server/gateway/order_secrets.hpp"
#include "server/gateway/privileges.hpp"

namespace muster::server {
namespace {

// Frames, tasks of Hello and reports together; the busiest of agents reports some hundred tasks a
// second, and a Hello lists what it holds at once.
constexpr double kMostAtOnce = 2.0 * kMostHeldTasks;
constexpr double kMostPerSecond = 5'000;
// A node keeps to a window of 1 MiB.
constexpr std::size_t kMostStoring = 8 << 20;
// A node may say Hello unasked while it is being asked to.
constexpr int kMostHellos = 3;
// A node has one link; a few more may be left of a network that broke, until they fall silent.
constexpr std::size_t kMostLinksOfKey = 8;

// A Hello is a commit and a round through all the host's tasks.
constexpr std::size_t kHelloCost = 500;

double CostOf(const link::NodeFrame& frame) {
  const std::size_t hello = frame.hello ? kHelloCost + frame.hello->tasks.size() : 0;
  return static_cast<double>(1 + hello + frame.reports.size());
}

}  // namespace

Gateway::Gateway(net::EventLoop& loop, Store& store, LogStore& logs, const Clock& clock,
                 WorkerPool& workers, Stored stored)
    : loop_(loop),
      store_(store),
      logs_(logs),
      clock_(clock),
      workers_(workers),
      intake_(logs,
              {.reports = [this](engine::NodeReports reports) { submit_(std::move(reports)); },
               .send =
                   [this](LinkId link, link::ServerFrame frame) {
                     loop_.Post([this, link, frame = std::move(frame)] { SendNow(link, frame); });
                   },
               .close = [this](LinkId link, const Error& why) { CloseSoon(link, why); },
               .stored = std::move(stored)}) {}

void Gateway::OnLink(std::shared_ptr<net::LinkConnection> connection) {
  const LinkId id(connection->Id());
  spdlog::debug("link opened link={} remote={}", id.value, connection->Remote());
  if (links_by_key_[connection->PeerKey()]++ >= kMostLinksOfKey) {
    spdlog::debug("link refused link={} remote={}: too many of its certificate", id.value,
                  connection->Remote());
    return connection->Close();
  }
  const MonoTime now = clock_.Read().mono;
  links_.insert_or_assign(id, Link{.connection = std::move(connection),
                                   .allowance = {kMostAtOnce, kMostPerSecond, now},
                                   .heard = now});
  link_count_ = links_.size();
}

void Gateway::OnClosed(net::LinkConnection& connection) {
  const LinkId id(connection.Id());
  if (const auto of_key = links_by_key_.find(connection.PeerKey());
      of_key != links_by_key_.end() && --of_key->second == 0)
    links_by_key_.erase(of_key);
  const auto found = links_.find(id);
  if (found == links_.end()) return;
  const Duration silent = clock_.Read().mono - found->second.heard;
  links_.erase(found);
  link_count_ = links_.size();
  spdlog::debug("link ended link={} remote={}", id.value, connection.Remote());
  submit_(engine::LinkClosed{id, silent});
}

void Gateway::OnFrame(net::LinkConnection& connection, const std::string& bytes) {
  const LinkId id(connection.Id());
  const auto found = links_.find(id);
  if (found == links_.end() || found->second.closing) return;
  auto frame = link::DecodeNodeFrame(bytes);
  if (!frame) return CloseNow(id, frame.error().message);
  if (const auto fits = CheckFrame(*frame); !fits) return CloseNow(id, fits.error().message);
  Link& link = found->second;
  DropUnpermitted(*frame, link.host);
  const Now now = clock_.Read();
  link.heard = now.mono;
  if (!link.allowance.Take(CostOf(*frame), now.mono))
    return CloseNow(id, "the node sends more than can be acted on");
  // Who it is and whether it may stay is judged by its Hello.
  if (!frame->hello && !link.greeted) return CloseNow(id, "the node has not said Hello");
  link.greeted = true;
  if (frame->hello) {
    if (frame->hello->has_others && sends_away_()) return SayGoodbyeTo(id);
    link.host = {};
    link.outdated = Outdated(frame->hello->facts);
    return TakeHello(link, std::move(*frame->hello));
  }
  if (frame->beat) {
    link::ServerFrame answer;
    answer.beat = link::BeatAnswer{frame->beat->sent_at, now.mono.ms};
    if (link.host) answer.beat->servers = servers_.News(now.mono, link.servers);
    connection.Send(encoder_.Encode(answer));
  }
  if (!frame->renew.empty()) TakeRenewal(link, std::move(frame->renew));
  if (frame->chunks.empty() && frame->reports.empty()) return;
  if (const auto taken = TakeOutput(link, *frame); !taken)
    return CloseNow(id, taken.error().message);
  intake_.Take(id, link.host, std::move(*frame));
}

Result<> Gateway::TakeOutput(Link& link, link::NodeFrame& frame) {
  auto unwanted = link.bounds.Sift(link.host, frame.chunks);
  if (!unwanted) return Fail(unwanted.error());
  link.bounds.DropTotals(frame.reports);
  if (!unwanted->empty()) {
    link::ServerFrame answer;
    answer.log_acks = std::move(*unwanted);
    link.connection->Send(encoder_.Encode(answer));
  }
  if (frame.chunks.empty()) return {};
  std::size_t bytes = 0;
  for (const auto& chunk : frame.chunks) bytes += sizeof(LogChunk) + chunk.data.size();
  link.storing.push_back(bytes);
  link.storing_bytes += bytes;
  if (link.storing_bytes > kMostStoring)
    return Fail(ErrorCode::kDenied, "the node sends more than its window");
  return {};
}

void Gateway::TakeHello(Link& link, link::Hello hello) {
  engine::NodeHello command;
  command.link = LinkId(link.connection->Id());
  command.key = link.connection->PeerKey();
  command.address = link.connection->Remote();
  command.hello = std::move(hello);
  spdlog::debug("hello link={} version={} session={} tasks={}", command.link.value,
                command.hello.version, command.hello.session, command.hello.tasks.size());
  if (command.hello.tasks.empty()) return submit_(std::move(command));
  if (++link.hellos > kMostHellos)
    return CloseNow(command.link, "the node says Hello without waiting for Welcome");
  const bool posted = workers_.Post(
      [this, command = std::move(command)]() mutable {
        std::vector<TaskKey> keys;
        for (const auto& held : command.hello.tasks) keys.push_back(held.task);
        auto records = store_.FindTasks(keys);
        if (!records) return CloseSoon(command.link, records.error());
        command.looked_at = records->commit;
        auto rooms = RoomsOnRecord(store_, keys, records->value);
        if (!rooms) return CloseSoon(command.link, rooms.error());
        for (std::size_t i = 0; i < keys.size(); ++i) {
          const auto durable = logs_.DurableEnd(keys[i]);
          if (!durable) return CloseSoon(command.link, durable.error());
          command.looked.push_back({std::move(records->value[i]), *durable});
        }
        // The link may have gone meanwhile, and the engine been told so.
        loop_.Post([this, command = std::move(command), rooms = std::move(*rooms)]() mutable {
          const auto found = links_.find(command.link);
          if (found == links_.end()) return;
          found->second.bounds.Expect(rooms);
          submit_(std::move(command));
        });
      },
      "look up a node's tasks");
  if (!posted) CloseNow(LinkId(link.connection->Id()), "the server is too busy");
}

bool Gateway::Outdated(const Labels& facts) const {
  const auto ca = facts.find(link::kFactCa);
  if (ca == facts.end()) return false;  // it does not renew
  if (ca->second != link::ShortId(office_.papers.signer)) return true;
  if (office_.papers.ca_pem.empty()) return false;
  const auto trusts = facts.find(link::kFactTrusts);
  return trusts == facts.end() || trusts->second != office_.trusts;
}

void Gateway::SendNow(LinkId link, const link::ServerFrame& frame) {
  const auto found = links_.find(link);
  if (found == links_.end()) return;
  Link& to = found->second;
  if (!Note(to, frame)) return CloseNow(link, "a task of the node ended while it said Hello");
  if (frame.welcome) {
    link::ServerFrame with_servers = frame;
    with_servers.welcome->servers = servers_.All(clock_.Read().mono, to.servers);
    to.connection->Send(encoder_.Encode(with_servers));
  } else {
    to.connection->Send(encoder_.Encode(frame));
  }
  if (!frame.welcome || !to.outdated) return;
  link::ServerFrame papers;
  papers.papers = office_.papers;
  to.connection->Send(encoder_.Encode(papers));
}

bool Gateway::Note(Link& link, const link::ServerFrame& frame) {
  if (frame.refusal && refused_) refused_(link.connection->Remote());
  if (frame.welcome || frame.say_hello) link.hellos = 0;
  if (frame.welcome) {
    link.host = frame.welcome->host;
    link.name = frame.welcome->host_name;
  }
  // Here only the intake acknowledges, once for each frame it took, in their order.
  if (!frame.log_acks.empty() && !link.storing.empty()) {
    link.storing_bytes -= link.storing.front();
    link.storing.pop_front();
  }
  return link.bounds.Note(frame);
}

void Gateway::CloseSoon(LinkId link, const Error& why) {
  loop_.Post([this, link, message = why.message] { CloseNow(link, message); });
}

void Gateway::CloseNow(LinkId link, const std::string& why) {
  const auto found = links_.find(link);
  if (found == links_.end() || std::exchange(found->second.closing, true)) return;
  if (!why.empty())
    spdlog::warn("link closed link={} remote={} reason=\"{}\"", link.value,
                 found->second.connection->Remote(), why);
  const auto connection = found->second.connection;
  connection->Close();
}

void Gateway::Send(std::vector<Outgoing> frames) {
  loop_.Post([this, frames = std::move(frames)]() mutable {
    OrderSecrets secrets(find_secret_);
    for (auto& outgoing : frames) {
      for (auto& refused : secrets.Fill(outgoing)) submit_(std::move(refused));
      if (!outgoing.frame.Empty()) SendNow(outgoing.link, outgoing.frame);
    }
  });
}

void Gateway::Close(LinkId link) {
  loop_.Post([this, link] { CloseNow(link, ""); });
}

void Gateway::BeginAnew(Term term, const std::string& /*cluster*/) {
  if (renew_secrets_) renew_secrets_();
  loop_.Post([this, term] { AskForHello(Hearing::By::kThisServer, term); });
}

void Gateway::AskForHello(Hearing::By by, Term term) {
  if (!hearing_.Begins(by, term)) return;
  if (!links_.empty())
    spdlog::info("asking every node for Hello term={} links={}", term.value, links_.size());
  link::ServerFrame frame;
  frame.say_hello = true;
  for (auto& [id, link] : links_) {
    link.host = {};
    link.hellos = 0;
    link.connection->Send(encoder_.Encode(frame));
  }
}

}  // namespace muster::server
