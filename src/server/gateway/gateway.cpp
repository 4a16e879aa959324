#include "server/gateway/gateway.hpp"

#include <utility>

#include <spdlog/spdlog.h>

#include "link/certificates.hpp"
#include "server/gateway/join_neighbours.hpp"
#include "server/gateway/order_secrets.hpp"
#include "server/gateway/privileges.hpp"

namespace muster::server {
namespace {

// A node keeps to a window of 1 MiB.
constexpr std::size_t kMostStoring = 8 << 20;
// How exactly it is kept when a host was heard: its output may be thousands of frames a second.
constexpr Duration kHeardWithin{250};

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

void Gateway::OnClosed(net::LinkConnection& connection) {
  const LinkId id(connection.Id());
  // What the key has used up stays so: a new link is no new allowance.
  if (const auto of_key = keys_.find(connection.PeerKey());
      of_key != keys_.end() && of_key->second.links > 0)
    --of_key->second.links;
  const auto found = links_.find(id);
  if (found == links_.end()) return;
  const Duration silent = clock_.Read().mono - found->second.heard;
  *found->second.gone = true;
  hellos_.Drop(id, connection.PeerKey());
  links_.erase(found);
  link_count_ = links_.size();
  spdlog::debug("link ended link={} remote={}", id.value, connection.Remote());
  submit_(engine::LinkClosed{id, silent});
}

void Gateway::OnFrame(net::LinkConnection& connection, const std::string& bytes) {
  const LinkId id(connection.Id());
  const auto found = links_.find(id);
  if (found == links_.end() || found->second.closing) return;
  Link& link = found->second;
  const Now now = clock_.Read();
  link.heard = now.mono;
  if (link.host && now.mono - link.noted >= kHeardWithin) heard_[link.host] = link.noted = now.mono;
  auto frame = Admit(link, bytes, now.mono);
  if (!frame) return CloseNow(id, frame.error().message);
  DropUnpermitted(*frame, link.host);
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
  if (const auto taken = TakeOutput(link, *frame); !taken) {
    link.of_key->Offend(now.mono);
    return CloseNow(id, taken.error().message);
  }
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
  JoinNeighbours(frame.chunks);
  if (frame.chunks.empty()) return {};
  std::size_t bytes = 0;
  for (const auto& chunk : frame.chunks) bytes += sizeof(LogChunk) + chunk.data.size();
  link.storing.push_back(bytes);
  link.storing_bytes += bytes;
  if (link.storing_bytes > kMostStoring)
    return Fail(ErrorCode::kDenied, "the node sends more than its window");
  return {};
}

bool Gateway::Outdated(const Labels& facts) const {
  const auto ca = facts.find(link::kFactCa);
  if (ca == facts.end()) return false;  // it does not renew
  if (ca->second != link::ShortId(office_.papers.signer)) return true;
  if (office_.papers.ca_pem.empty()) return false;
  const auto trusts = facts.find(link::kFactTrusts);
  return trusts == facts.end() || trusts->second != office_.trusts;
}

std::vector<HeardHost> Gateway::TakeHeard(std::size_t most) {
  std::vector<HeardHost> taken;
  for (auto at = heard_.begin(); at != heard_.end() && taken.size() < most; at = heard_.erase(at))
    taken.push_back({at->first, at->second});
  return taken;
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
  if (frame.refusal) {
    if (refused_) refused_(link.connection->Remote());
    KeepRefusal(*link.of_key, *frame.refusal);
  }
  if (frame.welcome || frame.say_hello) link.hellos = 0;
  if (frame.welcome) {
    link.welcomed = true;
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
  if (!why.empty()) LogClosed(found->second, why);
  const auto connection = found->second.connection;
  *found->second.gone = true;
  hellos_.Drop(link, connection->PeerKey());
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
