#include "server/peers/leader_link.hpp"

#include <utility>

#include <spdlog/spdlog.h>

#include "adapters/crypto/pki.hpp"

namespace muster::server {
namespace {

constexpr Duration kConnectWithin = std::chrono::seconds(2);
constexpr Duration kRetry{200};
constexpr Duration kBeat{300};
// A leader that is silent for longer is frozen or cut off; another one may be there by now.
constexpr Duration kSilence = std::chrono::seconds(3);

}  // namespace

LeaderLink::LeaderLink(net::EventLoop& loop, Gateway& gateway, const Clock& clock,
                       ClockJudge& judge, Self self)
    : loop_(loop), gateway_(gateway), clock_(clock), judge_(judge), self_(std::move(self)) {}

LeaderLink::~LeaderLink() { *alive_ = false; }

void LeaderLink::Follow(const std::string& name, const std::string& url) {
  if (name == leader_ && url == url_) return;
  leader_ = name;
  url_ = url;
  ++round_;
  connection_.reset();
  open_ = false;
  welcome_ = false;
  frames_.Take();
  SetTrouble(leader_.empty() ? "no leader yet" : fmt::format("connecting to {}", leader_));
  if (!leader_.empty()) Connect();
}

void LeaderLink::Connect() {
  const auto endpoint = net::ParseEndpoint(url_);
  if (!endpoint) return Retry(endpoint.error().message);
  leader_clock_.Forget();
  clock_ahead_.reset();
  connected_ = heard_ = clock_.Read().mono;
  const std::uint64_t round = round_;
  const auto current = [this, alive = alive_, round] { return *alive && round == round_; };
  connection_ =
      Dial(*endpoint, {.on_open =
                           [this, current] {
                             if (!current()) return;
                             open_ = true;
                             Say(FollowerBeat{clock_.Read().mono});
                             Say(FollowerHello{self_.name, self_.version, self_.url, self_.cas});
                             Beat();
                           },
                       .on_frame =
                           [this, current](std::string frame) {
                             if (current()) TakeFrame(frame);
                           },
                       .on_closed =
                           [this, current](const Error& why) {
                             if (current()) Retry(why.message);
                           }});
}

std::unique_ptr<net::LinkClient> LeaderLink::Dial(const net::Endpoint& endpoint,
                                                  net::LinkClient::Handlers handlers) {
  const auto identity = self_.identity(leader_);
  if (self_.dial) return self_.dial(endpoint, identity, std::move(handlers));
  return net::LinkClient::Connect(loop_, endpoint, identity, "/api/v1/link", kConnectWithin,
                                  std::move(handlers));
}

void LeaderLink::Retry(const std::string& why) {
  const bool was_welcome = welcome_.exchange(false);
  if (was_welcome) {
    spdlog::warn("lost the leader name={} reason=\"{}\"", leader_, why);
    self_.lost();
  }
  SetTrouble(fmt::format("the leader {} ({}) cannot be reached: {}", leader_, url_, why));
  open_ = false;
  frames_.Take();
  const std::uint64_t round = ++round_;
  loop_.After(kRetry, [this, alive = alive_, round] {
    if (!*alive || round != round_) return;
    connection_.reset();
    Connect();
  });
}

void LeaderLink::Beat() {
  const MonoTime now = clock_.Read().mono;
  if (now - heard_ > kSilence) {
    connection_.reset();
    return Retry("it is silent");
  }
  // Nobody reads them before the leader knows the hosts.
  constexpr std::size_t kMostHeard = 20'000;
  Say(FollowerBeat{now, clock_ahead_,
                   welcome_ ? gateway_.TakeHeard(kMostHeard) : std::vector<HeardHost>{}});
  loop_.After(kBeat, [this, alive = alive_, round = round_] {
    if (*alive && round == round_ && open_) Beat();
  });
}

void LeaderLink::Say(FollowerItem item) {
  if (!open_) return;
  frames_.Add(item);
  FlushSoon();
}

// What is said in one round of the loop goes out together.
void LeaderLink::FlushSoon() {
  if (std::exchange(flushing_, true)) return;
  loop_.Post([this, alive = alive_] {
    if (!*alive) return;
    flushing_ = false;
    for (auto& frame : frames_.Take())
      if (connection_) connection_->Send(std::move(frame));
  });
}

void LeaderLink::Submit(engine::AnyCommand command) {
  if (!welcome_) return;
  loop_.Post([this, alive = alive_, command = std::move(command)]() mutable {
    if (!*alive || !welcome_) return;
    if (auto* hello = std::get_if<engine::NodeHello>(&command)) Say(std::move(*hello));
    if (auto* reports = std::get_if<engine::NodeReports>(&command)) Say(std::move(*reports));
    if (auto* closed = std::get_if<engine::LinkClosed>(&command)) Say(*closed);
  });
}

void LeaderLink::AskAgain() {
  if (welcome_) gateway_.BeginElsewhere(term_);
}

void LeaderLink::Stored(const std::vector<LogChunk>& chunks) {
  if (!welcome_ || chunks.empty()) return;
  std::vector<StoredOutput> stored;
  for (const auto& chunk : chunks) {
    const std::uint64_t end = chunk.offset + chunk.data.size();
    if (!stored.empty() && stored.back().task == chunk.task && stored.back().end == chunk.offset)
      stored.back().end = end;
    else
      stored.push_back({chunk.task, chunk.offset, end});
  }
  loop_.Post([this, alive = alive_, stored = std::move(stored)] {
    if (!*alive) return;
    for (const auto& one : stored) Say(one);
  });
}

void LeaderLink::TakeFrame(const std::string& bytes) {
  heard_ = clock_.Read().mono;
  auto items = DecodeLeaderFrame(bytes);
  if (!items) {
    connection_.reset();
    return Retry(items.error().message);
  }
  const std::uint64_t round = round_;
  for (auto& item : *items) {
    Take(std::move(item));
    if (round != round_) return;
  }
}

void LeaderLink::Take(LeaderItem item) {
  if (const auto* beat = std::get_if<LeaderBeat>(&item)) return TakeBeat(*beat);
  if (const auto* refusal = std::get_if<LeaderRefusal>(&item)) {
    refused_ = clock_.Read().mono;
    connection_.reset();
    return Retry(refusal->why);
  }
  if (const auto* welcome = std::get_if<LeaderWelcome>(&item)) return TakeWelcome(*welcome);
  if (!welcome_) return;  // nothing of a leader counts before its term is proven
  if (auto* told = std::get_if<Links::Outgoing>(&item)) return Deliver(std::move(*told));
  if (const auto* close = std::get_if<CloseLink>(&item)) gateway_.Close(close->link);
  if (const auto* drain = std::get_if<DrainOrder>(&item)) self_.drain(drain->wanted);
}

void LeaderLink::TakeWelcome(const LeaderWelcome& welcome) {
  const link::TermTicket& ticket = welcome.ticket;
  if (ticket.term != welcome.term || ticket.leader != leader_ ||
      !crypto::IsTextSignedBy(TicketText(ticket), ticket.signature, self_.trusted_cas)) {
    connection_.reset();
    return Retry(fmt::format("it does not prove that it leads in term {}", welcome.term.value));
  }
  // One CA may sign for several clusters: a copy of this one, or one that was made from its keys.
  if (const std::string own = self_.cluster(); own.empty() || ticket.cluster != own) {
    connection_.reset();
    return Retry(own.empty()
                     ? "the store has not said yet which cluster this is"
                     : fmt::format("it leads cluster {}, and this server's store is of cluster {}",
                                   ticket.cluster, own));
  }
  spdlog::info("follows name={} term={}", leader_, welcome.term.value);
  welcome_ = true;
  SetTrouble("");
  term_ = welcome.term;
  // A leader of an earlier version says nothing of the others; where it is itself is proven.
  if (self_.facts) self_.facts({.servers = {{leader_, url_, {}}}, .hosts = {}});
  gateway_.BeginElsewhere(term_);
}

void LeaderLink::TakeBeat(const LeaderBeat& beat) {
  const Now now = clock_.Read();
  if (beat.echo < connected_ || beat.echo > now.mono) {
    connection_.reset();
    return Retry("it answers a heartbeat that was not sent over this connection");
  }
  // The first answer comes before the welcome, and the first order right behind that.
  leader_clock_.Heard(beat.echo, beat.now);
  if (!welcome_) return;
  if (beat.cluster && self_.facts) self_.facts(*beat.cluster);
  if (beat.wall) clock_ahead_ = judge_.LeaderSaid(leader_, beat.echo, beat.wall, now);
}

std::optional<MonoTime> LeaderLink::Heard() const {
  if (!welcome_) return std::nullopt;
  return heard_;
}

void LeaderLink::Deliver(Links::Outgoing outgoing) {
  ForOwnNodes(outgoing.frame, leader_clock_, clock_.Read().mono);
  gateway_.Deliver(outgoing.link, outgoing.frame);
}

void LeaderLink::SetTrouble(std::string why) {
  base::Lock lock(mutex_);
  trouble_ = std::move(why);
}

std::string LeaderLink::Trouble() const {
  base::Lock lock(mutex_);
  return trouble_;
}

}  // namespace muster::server
