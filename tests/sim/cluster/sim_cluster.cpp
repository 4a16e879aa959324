#include "sim/cluster/sim_cluster.hpp"

#include <algorithm>
#include <utility>

namespace muster::sim {
namespace {

constexpr std::int64_t kLookEvery = 250;

}  // namespace

SimMusterd::SimMusterd(World& world, Truth& truth, SimCluster& cluster, Machine& machine)
    : cluster_(cluster),
      machine_(machine),
      life_(world),
      store_(world, truth, cluster.disk(), machine.disk),
      logs_(world, cluster.logs(), machine.disk),
      seat_(world, cluster.coordinator(), machine.seat, machine.clock, life_, machine.name),
      gateway_(world, life_, machine.clock, store_, logs_,
               [this](engine::AnyCommand command) { Submit(std::move(command)); }),
      followers_(
          world, life_,
          {.gateway = gateway_,
           .store = store_,
           .clock = machine.clock,
           .ledger = cluster.ledger(),
           .submit = [this](engine::AnyCommand command) { engine_.Submit(std::move(command)); },
           .lease = [this] { return seat_.lease(); }}),
      leader_link_(
          world, life_, machine.clock, machine.late, gateway_,
          [this](const std::string& leader, std::function<void(server::LeaderItem)> at_follower,
                 std::function<void()> closed) {
            return cluster_.Dial(machine_.name, leader, life_, std::move(at_follower),
                                 std::move(closed));
          }),
      engine_(world, life_, machine.name,
              {.store = store_,
               .links = followers_,
               .seat = seat_,
               .clock = machine.clock,
               .truth = truth,
               .ended = [this] { EndedHere(); }}),
      way_to_leader_(machine.clock.Read().mono, std::chrono::seconds(5)) {
  store_.HasClock(SimClock::kTrueWall);
  store_.SharesHanging(cluster.hanging());
}

void SimMusterd::Start() {
  seat_.OnChange([this] {
    const std::string leader = seat_.Leader();
    leader_link_.Follow(leader == machine_.name ? "" : leader);
  });
  seat_.Start();
  engine_.Start();
  WatchWay();
}

// What Cluster::LookAround does. Here the seat does not know that it is cut off; its machine does.
server::CutOff::Sees SimMusterd::LookAround(MonoTime now) const {
  if (Leads() || leader_link_.Heard()) return server::CutOff::Sees::kLeader;
  if (now - leader_link_.Refused() < std::chrono::seconds(3)) return server::CutOff::Sees::kNobody;
  const std::string leader = seat_.Leader();
  const bool nobody = leader.empty() || leader == machine_.name;
  return nobody && !machine_.seat.cut ? server::CutOff::Sees::kNobody
                                      : server::CutOff::Sees::kNothing;
}

void SimMusterd::WatchWay() {
  const MonoTime now = machine_.clock.Read().mono;
  way_to_leader_.See(LookAround(now), now, leader_link_.Heard().value_or(now));
  Duration over{0};
  if (way_to_leader_.Tell(now, over)) {
    cluster_.world().Trace("{} sends its nodes away", machine_.name);
    gateway_.SendAway();
  }
  life_.Later(kLookEvery, [this] { WatchWay(); });
}

void SimMusterd::EndedHere() {
  followers_.Dismiss();
  life_.Later(0, [this] {
    gateway_.EndHere();
    if (gateway_.HeardBy() == server::Hearing::By::kNobody) leader_link_.AskAgain();
  });
}

void SimMusterd::Crash() {
  life_.End();
  store_.Crash();
  logs_.Crash();
  gateway_.DropAll();
  followers_.HangUp();
  leader_link_.HangUp();
}

void SimMusterd::Submit(engine::AnyCommand command) {
  const auto by = gateway_.HeardBy();
  if (by == server::Hearing::By::kNobody) return;
  if (by == server::Hearing::By::kLeaderElsewhere) return leader_link_.Submit(std::move(command));
  if (const auto* hello = std::get_if<engine::NodeHello>(&command)) followers_.Note(*hello);
  engine_.Submit(std::move(command));
}

void SimMusterd::Ask(const SimEngine::MakeCommand& make, Servers::Answered answer, bool passed_on) {
  const std::string leader = seat_.Leader();
  if (Leads() || passed_on || leader.empty() || leader == machine_.name)
    return engine_.Ask(make, std::move(answer));
  cluster_.PassOn(machine_.name, leader, make, std::move(answer));
}

SimCluster::SimCluster(World& world, Truth& truth, int servers)
    : world_(world),
      truth_(truth),
      coordinator_(world),
      ledger_(world, coordinator_),
      view_(disk_),
      programs_(static_cast<std::size_t>(servers)),
      peers_(static_cast<std::size_t>(servers * servers)) {
  for (int i = 0; i < servers; ++i)
    machines_.push_back(
        std::make_unique<SimMusterd::Machine>(SimMusterd::Machine{.name = fmt::format("s{}", i + 1),
                                                                  .clock = SimClock(world),
                                                                  .disk = {},
                                                                  .seat = {},
                                                                  .late = 0}));
}

PeerMood& SimCluster::Between(std::size_t i, std::size_t j) {
  return peers_[std::min(i, j) * machines_.size() + std::max(i, j)];
}

std::size_t SimCluster::IndexOf(const std::string& name) const {
  return static_cast<std::size_t>(
      std::ranges::find_if(machines_, [&](const auto& one) { return one->name == name; }) -
      machines_.begin());
}

void SimCluster::StartServer(std::size_t i) {
  if (programs_[i] != nullptr) return;
  world_.Trace("{} starts", machines_[i]->name);
  lives_.push_back(std::make_unique<SimMusterd>(world_, truth_, *this, *machines_[i]));
  programs_[i] = lives_.back().get();
  programs_[i]->Start();
}

void SimCluster::CrashServer(std::size_t i) {
  if (programs_[i] == nullptr) return;
  world_.Trace("{} crashes", machines_[i]->name);
  std::exchange(programs_[i], nullptr)->Crash();
  if (world_.Chance(0.2)) machines_[i]->clock.Reboot();
}

std::optional<LinkId> SimCluster::Open(std::string key, ServerPort port) {
  // A node asks the next server of its list at once when there is none at an address.
  auto at =
      static_cast<std::size_t>(world_.Between(0, static_cast<std::int64_t>(programs_.size()) - 1));
  for (std::size_t tried = 1; programs_[at] == nullptr && tried < programs_.size(); ++tried)
    at = (at + 1) % programs_.size();
  SimMusterd* server = programs_[at];
  if (server == nullptr || server->life().Frozen()) return std::nullopt;
  const LinkId id(++next_link_);
  holders_[id] = server;
  server->gateway().Open(id, std::move(key), std::move(port));
  return id;
}

SimMusterd* SimCluster::Holder(LinkId link) {
  const auto found = holders_.find(link);
  return found == holders_.end() ? nullptr : found->second;
}

void SimCluster::Receive(LinkId link, link::NodeFrame frame) {
  if (SimMusterd* holder = Holder(link))
    holder->life().Later(
        0, [holder, link, frame = std::move(frame)] { holder->gateway().Receive(link, frame); });
}

void SimCluster::Closed(LinkId link) {
  if (SimMusterd* holder = Holder(link))
    holder->life().Later(0, [holder, link] { holder->gateway().Closed(link); });
}

std::optional<SimLeaderLink::Way> SimCluster::Dial(
    const std::string& from, const std::string& to, Life follower,
    std::function<void(server::LeaderItem)> at_follower, std::function<void()> closed) {
  SimMusterd* leader = programs_[IndexOf(to)];
  const PeerMood& mood = Between(IndexOf(from), IndexOf(to));
  if (leader == nullptr || leader->life().Frozen() || mood.cut) return std::nullopt;
  auto seat = std::make_shared<std::uint64_t>(0);
  auto wire = std::make_shared<PeerWire>(
      world_, mood, PeerWire::End{std::move(follower), std::move(closed)},
      PeerWire::End{leader->life(), [leader, seat] { leader->followers().Gone(*seat); }});
  *seat = leader->followers().Come(wire, std::move(at_follower));
  return SimLeaderLink::Way{wire, [leader, seat, wire](server::FollowerItem item) {
                              wire->ToLeader([leader, seat, item = std::move(item)] {
                                leader->followers().Take(*seat, item);
                              });
                            }};
}

void SimCluster::PassOn(const std::string& from, const std::string& to,
                        const SimEngine::MakeCommand& make, Answered answer) {
  const std::size_t here = IndexOf(from);
  const std::size_t there = IndexOf(to);
  SimMusterd* leader = programs_[there];
  SimMusterd* follower = programs_[here];
  PeerMood& mood = Between(here, there);
  if (leader == nullptr || mood.cut)
    return answer(Fail(ErrorCode::kUnavailable, "the leader cannot be reached"));
  const auto back = [this, follower, &mood, answer](Result<engine::AnyAnswer> result) {
    if (mood.cut) return;
    follower->life().Later(world_.Delay(mood.usual, mood.rare),
                           [answer, result = std::move(result)] { answer(result); });
  };
  leader->life().Later(world_.Delay(mood.usual, mood.rare),
                       [leader, make, back] { leader->Ask(make, back, true); });
}

void SimCluster::AskAs(MakeCommand make, Answered answer) {
  const auto any =
      static_cast<std::size_t>(world_.Between(0, static_cast<std::int64_t>(programs_.size()) - 1));
  SimMusterd* server = programs_[any];
  if (server == nullptr) return;
  server->life().Later(world_.Delay(2, 300),
                       [server, make, answer] { server->Ask(make, answer, false); });
}

}  // namespace muster::sim
