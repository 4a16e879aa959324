#include "server/peers/cluster.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <spdlog/spdlog.h>

namespace muster::server {
namespace {

constexpr Duration kAnnounceEvery = std::chrono::seconds(2);
constexpr Duration kLookEvery{250};
// What the server that is to lead said counts for so long: it is asked several times a second.
constexpr Duration kRefusalCounts = std::chrono::seconds(3);
// What a leader was asked before it stepped down it still answers; a drain of it is always answered
// so.
constexpr Duration kLastAnswers = std::chrono::seconds(1);
// The servers of a cluster have found each other after so long; a member that has not proven itself
// by then may be none.
constexpr Duration kProvesWithin = std::chrono::seconds(10);

// Said by one server to another about the caller it speaks for: address, key of its certificate,
// and the name of the token that it showed.
constexpr const char* kForAddress = "Muster-For";
constexpr const char* kForKey = "Muster-For-Key";
constexpr const char* kForToken = "Muster-For-Token";

// About this very server: whoever asks wants to know of it and of no other.
constexpr std::array<std::string_view, 4> kOwnPublic = {"/healthz", "/readyz", "/metrics",
                                                        "/api/v1/openapi.yaml"};
constexpr std::string_view kOwnOfAdmins = "/api/v1/debug/";

bool IsOwnPublic(std::string_view target) {
  return std::ranges::find(kOwnPublic, target.substr(0, target.find('?'))) != kOwnPublic.end();
}

// What helps to find out why nobody leads.
bool AnsweredByAny(std::string_view target) {
  const auto path = target.substr(0, target.find('?'));
  return path == "/api/v1/status" || path == "/api/v1/servers";
}

bool IsAboutCaller(std::string_view header) {
  return std::ranges::any_of(std::array{kForAddress, kForKey, kForToken}, [&](const char* name) {
    return !net::FindHeader({{std::string(header), "x"}}, name).empty();
  });
}

// What a server says about a caller counts, and the request is then that caller's; what anybody
// else says does not. True when a server passed it on.
bool TakeWord(net::HttpRequest& request) {
  const auto address = net::FindHeader(request.headers, kForAddress);
  const bool passed_on = !request.peer_server.empty() && !address.empty();
  if (passed_on) {
    request.remote = std::string(address);
    request.peer_key = std::string(net::FindHeader(request.headers, kForKey));
    request.vouched_token = std::string(net::FindHeader(request.headers, kForToken));
    request.peer_server.clear();
  }
  std::erase_if(request.headers, [](const auto& header) { return IsAboutCaller(header.first); });
  return passed_on;
}

}  // namespace

Cluster::Cluster(net::EventLoop& loop, Coordinator& coordinator, Gateway& gateway,
                 const Clock& clock, ClockJudge& judge, Settings settings, Exits exits)
    : loop_(loop),
      coordinator_(coordinator),
      clock_(clock),
      judge_(judge),
      settings_(std::move(settings)),
      exits_(std::move(exits)),
      started_(clock.Read().mono),
      gateway_(gateway),
      leader_link_(loop, gateway, clock, judge,
                   {.name = settings_.self.name,
                    .version = settings_.self.version,
                    .identity = settings_.identity,
                    .trusted_cas = settings_.trusted_cas,
                    .cluster = settings_.id,
                    .drain = [this](bool wanted) { Drain(wanted); },
                    .url = settings_.self.url,
                    .cas = settings_.cas,
                    .facts = [this](ClusterFacts facts) { TakeFacts(std::move(facts)); },
                    .lost = [this] { LoseLeader(); }}),
      told_(settings_.self),
      way_to_leader_(clock.Read().mono, settings_.send_away_after) {}

Cluster::~Cluster() {
  *alive_ = false;
  base::Lock lock(way_->mutex);
  way_->loop = nullptr;
}

void Cluster::Start() {
  {
    base::Lock lock(way_->mutex);
    way_->loop = &loop_;
  }
  coordinator_.OnChange([this, alive = alive_, way = way_] {
    base::Lock lock(way->mutex);
    if (way->loop == nullptr) return;
    way->loop->Post([this, alive] {
      if (*alive) Refresh();
    });
  });
  coordinator_.Announce(settings_.self);
  Refresh();
  AnnounceSoon();
  WatchWay();
}

Member Cluster::Self() const {
  Member now = settings_.self;
  now.links = exits_.links();
  now.draining = draining_;
  now.trouble = exits_.cannot_lead();
  if (now.trouble.empty()) now.trouble = judge_.Differs(clock_.Read());
  base::Lock lock(mutex_);
  if (now.trouble.empty()) now.trouble = disk_low_;
  now.unfit = unfit_;
  return now;
}

// The others see about how many links a server has.
void Cluster::AnnounceSoon() {
  loop_.After(kAnnounceEvery, [this, alive = alive_] {
    if (!*alive) return;
    Announce();
    StandBy();
    PublishFacts();
    RenewForwarder();
    NoteMembers(coordinator_.Members());  // forgets those that went long ago
    // Some may have come back before they heard of other servers.
    if (leaves_ && exits_.links() > 0)
      exits_.say_goodbye(kGoodbyeWithin, [this] { return SendsAway(); });
    AnnounceSoon();
  });
}

void Cluster::Announce() {
  Member now = Self();
  if (now == told_) return;
  told_ = now;
  coordinator_.Announce(std::move(now));
}

CutOff::Sees Cluster::LookAround(MonoTime now) const {
  if (Leads()) return CutOff::Sees::kLeader;
  // If the store were away for all, the leader would soon stop. It does not: this server is cut off
  // from where its nodes' output is to be kept.
  if (leader_link_.Heard())
    return exits_.reaches_store() ? CutOff::Sees::kLeader : CutOff::Sees::kNothing;
  if (now - leader_link_.Refused() < kRefusalCounts) return CutOff::Sees::kNobody;
  const auto members = coordinator_.Members();
  const bool alone = members.size() == 1 && members.front().name == settings_.self.name;
  const std::string leader = coordinator_.Leader();
  const bool nobody = leader.empty() || leader == settings_.self.name;
  if (alone || (nobody && coordinator_.Trouble().empty())) return CutOff::Sees::kNobody;
  return CutOff::Sees::kNothing;
}

void Cluster::WatchWay() {
  const MonoTime now = clock_.Read().mono;
  way_to_leader_.See(LookAround(now), now, leader_link_.Heard().value_or(now));
  const bool cut_off = way_to_leader_.SendsAway(now);
  if (cut_off_.exchange(cut_off) != cut_off)
    spdlog::warn("{}", cut_off ? NotReady() : "no longer cut off: nodes may come again");
  Duration over{0};
  if (way_to_leader_.Tell(now, over)) exits_.say_goodbye(over, [this] { return SendsAway(); });
  loop_.After(kLookEvery, [this, alive = alive_] {
    if (*alive) WatchWay();
  });
}

void Cluster::Refresh() {
  const auto members = coordinator_.Members();
  NoteMembers(members);
  const std::string leader = coordinator_.Leader();
  const auto found = std::ranges::find(members, leader, &Member::name);
  const bool other = leader != settings_.self.name && found != members.end();
  const std::string url = other ? found->url : "";
  leader_link_.Follow(other ? leader : "", url);
  if (url == forwards_to_) return;
  RetireForwarder();
  forwards_to_ = url;
  const auto endpoint = url.empty() ? Result<net::Endpoint>() : net::ParseEndpoint(url);
  if (url.empty() || !endpoint) return;
  forwarder_ = net::Forwarder::Make(loop_, {.to = *endpoint,
                                            .identity = settings_.identity(leader),
                                            .name = fmt::format("the leader {}", leader)});
}

// A leader may lead for longer than the certificate lives that this server shows to it.
void Cluster::RenewForwarder() {
  if (forwarder_) forwarder_->UseIdentity(settings_.identity(coordinator_.Leader()));
}

// Calls on their way to a leader that fell silent would wait for it far longer than its link does.
void Cluster::LoseLeader() {
  facts_of_.clear();
  RetireForwarder();
  loop_.Post([this, alive = alive_] {
    if (*alive) Refresh();
  });
}

void Cluster::RetireForwarder() {
  forwards_to_.clear();
  if (!forwarder_) return;
  retired_.push_back(std::move(forwarder_));
  loop_.After(kLastAnswers, [this, alive = alive_] {
    if (*alive) retired_.pop_front();
  });
}

void Cluster::NoteMembers(const std::vector<Member>& members) {
  const WallTime now = clock_.Read().wall;
  base::Lock lock(mutex_);
  for (const auto& name : seen_.Note(members, now)) spdlog::warn("server gone name={}", name);
}

void Cluster::Proven(ServerFacts facts) {
  {
    base::Lock lock(mutex_);
    proven_.Learn(std::move(facts));
  }
  PublishFacts();
}

void Cluster::TakeFacts(ClusterFacts facts) {
  told_hosts_ = std::move(facts.hosts);
  if (facts.servers.empty()) return;
  // Without CAs it is only where the leader is: of the others it says nothing, or not yet.
  facts_of_ = facts.servers.front().cas.empty() ? "" : facts.servers.front().name;
  base::Lock lock(mutex_);
  for (auto& server : facts.servers) proven_.Learn(std::move(server));
}

void Cluster::PublishFacts() {
  if (!exits_.engine_leads()) return;
  ClusterFacts facts{.servers = {{settings_.self.name, settings_.self.url, settings_.cas}},
                     .hosts = exits_.hosts()};
  {
    base::Lock lock(mutex_);
    for (const auto& member : Others())
      if (const ServerFacts* known = proven_.Find(member.name)) facts.servers.push_back(*known);
  }
  exits_.publish(std::move(facts));
}

std::optional<ClusterFacts> Cluster::Facts() const {
  const bool leads = exits_.engine_leads();
  if (!leads && (facts_of_.empty() || facts_of_ != coordinator_.Leader() || !leader_link_.Heard()))
    return std::nullopt;
  ClusterFacts facts{.servers = {}, .hosts = leads ? exits_.hosts() : told_hosts_};
  base::Lock lock(mutex_);
  for (const auto& [name, view] : seen_.Views()) {
    if (name == settings_.self.name) continue;
    const ServerFacts* known = view.here ? proven_.Find(name) : nullptr;
    facts.servers.push_back(known != nullptr ? *known : ServerFacts{name, view.member.url, {}});
  }
  return facts;
}

void Cluster::Submit(engine::AnyCommand command) {
  const Hearing::By by = gateway_.HeardBy();
  if (by == Hearing::By::kThisServer) exits_.submit(std::move(command));
  if (by == Hearing::By::kLeaderElsewhere) leader_link_.Submit(std::move(command));
}

bool Cluster::Stored(const std::vector<LogChunk>& chunks) {
  if (gateway_.HeardBy() == Hearing::By::kThisServer) return true;
  leader_link_.Stored(chunks);
  return false;
}

Cluster::Answers Cluster::WhoAnswers(net::HttpRequest& request,
                                     const std::function<bool()>& on_record) {
  const bool passed_on = TakeWord(request);
  // What one server asks of another is about that server.
  if (exits_.engine_leads() || IsOwnPublic(request.target) || !request.peer_server.empty())
    return Answers::kHere;
  // Who may ask is on record too: what this server heard when it led, if it did, may be outdated.
  if (on_record() || request.target.starts_with(kOwnOfAdmins)) return Answers::kRecord;
  // What was passed on is not passed on again: the two do not agree on who leads.
  if (Leads() || passed_on || !MayPassOn())
    return AnsweredByAny(request.target) ? Answers::kRecord : Answers::kNobody;
  return Answers::kLeader;
}

bool Cluster::PassOn(net::HttpRequest& request, const std::shared_ptr<net::HttpExchange>& exchange,
                     const std::string& token) {
  if (!MayPassOn()) return false;
  std::erase_if(request.headers, [](const auto& header) {
    return !net::FindHeader({header}, "Authorization").empty() ||
           !net::FindHeader({header}, "Cookie").empty();
  });
  net::Headers more{{kForAddress, request.remote}, {kForKey, request.peer_key}, {kForToken, token}};
  forwarder_->Pass(std::move(request), exchange, std::move(more));
  return true;
}

void Cluster::EndedHere() {
  loop_.Post([this, alive = alive_] {
    if (!*alive) return;
    gateway_.EndHere();
    // The leader that this server follows by now may have asked while it still led itself.
    if (gateway_.HeardBy() == Hearing::By::kNobody) leader_link_.AskAgain();
  });
}

std::string Cluster::NotReady() const {
  {
    base::Lock lock(mutex_);
    if (!unfit_.empty()) return unfit_;
  }
  if (draining_) return "draining: its nodes go to other servers, and it does not lead";
  if (Leads()) return exits_.engine_trouble();
  std::string trouble = coordinator_.Trouble();
  if (trouble.empty()) trouble = leader_link_.Trouble();
  if (const std::string own = exits_.cannot_lead(); !own.empty())
    trouble += (trouble.empty() ? "" : "; ") + own;
  return cut_off_ ? fmt::format("cut off, its nodes go to other servers: {}", trouble) : trouble;
}

std::vector<Cluster::View> Cluster::Servers() const {
  const std::string leader = coordinator_.Leader();
  std::vector<View> views;
  base::Lock lock(mutex_);
  for (const auto& [name, view] : seen_.Views()) {
    views.push_back(view);
    views.back().leads = view.here && name == leader;
  }
  return views;
}

std::vector<std::string> Cluster::Urls() const {
  const auto members = coordinator_.Members();
  Member self = settings_.self;
  self.draining = leaves_;
  base::Lock lock(mutex_);
  const bool early = clock_.Read().mono - started_ < kProvesWithin;
  if (members.empty() || (early && !proven_.All(self.name, members))) return {};
  return proven_.Urls(self, members);
}

std::vector<Member> Cluster::Others() const {
  auto members = coordinator_.Members();
  std::erase_if(members, [this](const Member& one) { return one.name == settings_.self.name; });
  return members;
}

}  // namespace muster::server
