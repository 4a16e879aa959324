#include "server/peers/followers.hpp"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "engine/hosts/unrecorded_tasks.hpp"
#include "server/gateway/order_secrets.hpp"

namespace muster::server {
namespace {

// A link of a follower is known to the engine by the follower's seat and its own number there.
constexpr unsigned kLinkBits = 40;
constexpr std::uint64_t kLinkMask = (1ULL << kLinkBits) - 1;

std::uint64_t SeatOf(LinkId link) { return link.value >> kLinkBits; }
LinkId Abroad(LinkId link) { return LinkId(link.value & kLinkMask); }
LinkId Here(std::uint64_t seat, LinkId link) {
  return LinkId(seat << kLinkBits | (link.value & kLinkMask));
}

}  // namespace

Followers::Followers(net::EventLoop& loop, Gateway& own, Store& store, const Clock& clock,
                     WorkerPool& workers, FindSecret find_secret, TermTickets& tickets, Exits exits)
    : loop_(loop),
      own_(own),
      store_(store),
      clock_(clock),
      workers_(workers),
      find_secret_(std::move(find_secret)),
      tickets_(tickets),
      exits_(std::move(exits)) {}

void Followers::OnLink(std::shared_ptr<net::LinkConnection> connection) {
  const std::uint64_t id = connection->Id();
  followers_.insert_or_assign(id,
                              Follower{.connection = std::move(connection), .seat = next_seat_++});
}

void Followers::OnClosed(net::LinkConnection& connection) {
  const auto found = followers_.find(connection.Id());
  if (found == followers_.end()) return;
  const Follower gone = std::move(found->second);
  followers_.erase(found);
  Note();
  if (gone.welcome) spdlog::warn("follower lost name={} links={}", gone.name, gone.links.size());
  for (const auto link : gone.links) exits_.submit(engine::LinkClosed{link});
}

void Followers::OnFrame(net::LinkConnection& connection, const std::string& bytes) {
  const auto found = followers_.find(connection.Id());
  if (found == followers_.end()) return;
  auto items = DecodeFollowerFrame(bytes);
  if (!items) {
    spdlog::warn("follower name={}: {}", connection.PeerServer(), items.error().message);
    return connection.Close();
  }
  for (auto& item : *items) Take(found->second, std::move(item));
}

void Followers::Take(Follower& from, FollowerItem item) {
  if (const auto* beat = std::get_if<FollowerBeat>(&item)) return TakeBeat(from, *beat);
  if (auto* hello = std::get_if<FollowerHello>(&item)) {
    from.name = from.connection->PeerServer();
    from.version = std::move(hello->version);
    if (exits_.proven) exits_.proven({from.name, std::move(hello->url), std::move(hello->cas)});
    if (term_.value != 0) return Welcome(from);
    Tell(from, LeaderRefusal{exits_.why_not()});
    return from.connection->Close();
  }
  if (!from.welcome) return;
  if (auto* hello = std::get_if<engine::NodeHello>(&item))
    return TakeHello(from, std::move(*hello));
  if (auto* reports = std::get_if<engine::NodeReports>(&item)) {
    reports->link = Here(from.seat, reports->link);
    return exits_.submit(std::move(*reports));
  }
  if (auto* closed = std::get_if<engine::LinkClosed>(&item)) {
    closed->link = Here(from.seat, closed->link);
    if (from.links.erase(closed->link) > 0) exits_.submit(*closed);
    return;
  }
  if (const auto* stored = std::get_if<StoredOutput>(&item)) exits_.stored(*stored);
}

void Followers::TakeBeat(Follower& from, const FollowerBeat& beat) {
  const Now now = clock_.Read();
  if (beat.clock_ahead && from.welcome && exits_.clock) exits_.clock(from.name, *beat.clock_ahead);
  if (from.welcome && exits_.heard && !beat.heard.empty()) {
    auto heard = beat.heard;
    for (auto& host : heard) host.at = now.mono + -(beat.sent_at - host.at);
    exits_.heard(heard);
  }
  LeaderBeat answer{.echo = beat.sent_at, .now = now.mono, .wall = now.wall};
  if (from.welcome && std::exchange(from.facts, facts_number_) != facts_number_)
    answer.cluster = facts_;
  Tell(from, answer);
}

void Followers::Publish(ClusterFacts facts) {
  if (facts_number_ != 0 && facts == facts_) return;
  facts_ = std::move(facts);
  ++facts_number_;
}

// What is on record of the tasks a node holds is the leader's own to look up: the engine must know
// the commit it was true at.
void Followers::TakeHello(Follower& from, engine::NodeHello hello) {
  hello.link = Here(from.seat, hello.link);
  from.links.insert(hello.link);
  if (hello.hello.tasks.empty()) return exits_.submit(std::move(hello));
  const LinkId link = hello.link;
  const bool posted = workers_.Post(
      [this, hello = std::move(hello)]() mutable {
        std::vector<TaskKey> keys;
        for (const auto& held : hello.hello.tasks) keys.push_back(held.task);
        auto records = store_.FindTasks(keys);
        if (!records) return Close(hello.link);
        hello.looked_at = records->commit;
        hello.looked.resize(keys.size());
        for (std::size_t i = 0; i < keys.size(); ++i)
          hello.looked[i].record = std::move(records->value[i]);
        if (!engine::LookAtRuns(store_, hello)) return Close(hello.link);
        // The link may have gone meanwhile, and the engine been told so.
        loop_.Post([this, hello = std::move(hello)]() mutable {
          const Follower* from = Find(SeatOf(hello.link));
          if (from != nullptr && from->links.contains(hello.link)) exits_.submit(std::move(hello));
        });
      },
      "look up a node's tasks");
  if (!posted) Close(link);
}

void Followers::Welcome(Follower& follower) {
  spdlog::info("follower name={} version={} term={}", follower.name, follower.version, term_.value);
  follower.welcome = true;
  Tell(follower, LeaderWelcome{term_, tickets_.For(cluster_, term_)});
  if (const auto wanted = drains_.extract(follower.name))
    Tell(follower, DrainOrder{wanted.mapped()});
  Note();
}

void Followers::Tell(Follower& follower, const LeaderItem& item) {
  follower.frames.Add(item);
  if (!std::exchange(follower.flushing, true)) FlushSoon(follower.connection->Id());
}

// What is said in one round of the loop goes out together.
void Followers::FlushSoon(std::uint64_t connection) {
  loop_.Post([this, connection] {
    const auto found = followers_.find(connection);
    if (found == followers_.end()) return;
    found->second.flushing = false;
    for (auto& frame : found->second.frames.Take())
      found->second.connection->Send(std::move(frame));
  });
}

Followers::Follower* Followers::Find(std::uint64_t seat) {
  for (auto& [id, follower] : followers_)
    if (follower.seat == seat) return &follower;
  return nullptr;
}

void Followers::Send(std::vector<Outgoing> frames) {
  for (auto& outgoing : frames)
    if (auto& welcome = outgoing.frame.welcome)
      welcome->ticket = tickets_.For(welcome->cluster, welcome->term);
  const auto abroad = std::ranges::stable_partition(
      frames, [](const Outgoing& outgoing) { return SeatOf(outgoing.link) == 0; });
  std::vector<Outgoing> remote(std::make_move_iterator(abroad.begin()),
                               std::make_move_iterator(abroad.end()));
  frames.erase(abroad.begin(), abroad.end());
  if (!frames.empty()) own_.Send(std::move(frames));
  if (remote.empty()) return;
  loop_.Post([this, remote = std::move(remote)]() mutable { SendRemote(std::move(remote)); });
}

void Followers::SendRemote(std::vector<Outgoing> frames) {
  OrderSecrets secrets(find_secret_);
  for (auto& outgoing : frames) {
    for (auto& refused : secrets.Fill(outgoing)) exits_.submit(std::move(refused));
    Follower* follower = Find(SeatOf(outgoing.link));
    if (follower == nullptr || outgoing.frame.Empty()) continue;
    outgoing.link = Abroad(outgoing.link);
    Tell(*follower, std::move(outgoing));
  }
}

void Followers::Close(LinkId link) {
  if (SeatOf(link) == 0) return own_.Close(link);
  loop_.Post([this, link] {
    if (Follower* follower = Find(SeatOf(link))) Tell(*follower, CloseLink{Abroad(link)});
  });
}

void Followers::BeginAnew(Term term, const std::string& cluster) {
  own_.BeginAnew(term, cluster);
  loop_.Post([this, term, cluster] {
    term_ = term;
    cluster_ = cluster;
    for (auto& [id, follower] : followers_) {
      follower.links.clear();
      if (!follower.name.empty()) Welcome(follower);
    }
  });
}

void Followers::Dismiss() {
  loop_.Post([this] {
    term_ = {};
    drains_.clear();
    for (auto& [id, follower] : followers_) {
      follower.links.clear();  // the engine's memory of them is gone
      follower.connection->Close();
    }
  });
}

void Followers::Drain(const std::string& name, bool wanted) {
  loop_.Post([this, name, wanted] {
    bool told = false;
    for (auto& [id, follower] : followers_) {
      if (!follower.welcome || follower.name != name) continue;
      Tell(follower, DrainOrder{wanted});
      told = true;
    }
    if (!told && term_.value != 0) drains_[name] = wanted;
  });
}

void Followers::Note() {
  std::vector<View> views;
  for (const auto& [id, follower] : followers_)
    if (follower.welcome) views.push_back({follower.name, follower.version, follower.links.size()});
  std::ranges::sort(views, {}, &View::name);
  base::Lock lock(mutex_);
  views_ = std::move(views);
}

std::vector<Followers::View> Followers::Views() const {
  base::Lock lock(mutex_);
  return views_;
}

}  // namespace muster::server
