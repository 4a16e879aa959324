#include <utility>

#include "engine/hosts/unrecorded_tasks.hpp"
#include "sim/cluster/sim_peers.hpp"
#include "sim/sim_tickets.hpp"

namespace muster::sim {
namespace {

constexpr unsigned kLinkBits = 40;
constexpr std::uint64_t kLinkMask = (1ULL << kLinkBits) - 1;

std::uint64_t SeatOf(LinkId link) { return link.value >> kLinkBits; }
LinkId Abroad(LinkId link) { return LinkId(link.value & kLinkMask); }
LinkId Here(std::uint64_t seat, LinkId link) {
  return LinkId(seat << kLinkBits | (link.value & kLinkMask));
}

}  // namespace

std::uint64_t SimFollowers::Come(std::shared_ptr<PeerWire> wire,
                                 std::function<void(server::LeaderItem)> at_follower) {
  const std::uint64_t seat = next_seat_++;
  followers_[seat] = {.wire = std::move(wire),
                      .at_follower = std::move(at_follower),
                      .said_hello = false,
                      .welcome = false,
                      .links = {}};
  return seat;
}

void SimFollowers::Gone(std::uint64_t seat) {
  const auto found = followers_.find(seat);
  if (found == followers_.end()) return;
  const Follower gone = std::move(found->second);
  followers_.erase(found);
  for (const auto link : gone.links) self_.submit(engine::LinkClosed{link});
}

SimFollowers::Follower* SimFollowers::Find(std::uint64_t seat) {
  const auto found = followers_.find(seat);
  return found == followers_.end() ? nullptr : &found->second;
}

void SimFollowers::Take(std::uint64_t seat, server::FollowerItem item) {
  Follower* found = Find(seat);
  if (found == nullptr) return;
  Follower& from = *found;
  if (const auto* beat = std::get_if<server::FollowerBeat>(&item))
    return Tell(from, server::LeaderBeat{beat->sent_at, self_.clock.Read().mono});
  if (std::holds_alternative<server::FollowerHello>(item)) {
    from.said_hello = true;
    if (term_.value != 0) return Welcome(from);
    Tell(from, server::LeaderRefusal{"it does not lead"});
    return from.wire->LeaderCloses();
  }
  if (!from.welcome) return;
  if (auto* hello = std::get_if<engine::NodeHello>(&item))
    return TakeHello(from, seat, std::move(*hello));
  if (auto* reports = std::get_if<engine::NodeReports>(&item)) {
    reports->link = Here(seat, reports->link);
    return self_.submit(std::move(*reports));
  }
  if (auto* closed = std::get_if<engine::LinkClosed>(&item)) {
    closed->link = Here(seat, closed->link);
    if (from.links.erase(closed->link) > 0) self_.submit(*closed);
  }
}

void SimFollowers::TakeHello(Follower& from, std::uint64_t seat, engine::NodeHello hello) {
  hello.link = Here(seat, hello.link);
  from.links.insert(hello.link);
  Note(hello);
  if (hello.hello.tasks.empty()) return self_.submit(std::move(hello));
  std::vector<TaskKey> keys;
  for (const auto& held : hello.hello.tasks) keys.push_back(held.task);
  auto records = self_.store.FindTasks(keys);
  if (!records) return Close(hello.link);
  hello.looked_at = records->commit;
  hello.looked.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i)
    hello.looked[i].record = std::move(records->value[i]);
  if (!engine::LookAtRuns(self_.store, hello)) return Close(hello.link);
  life_.Later(world_.Delay(2, 3000), [this, seat, hello = std::move(hello)] {
    const Follower* follower = Find(seat);
    if (follower != nullptr && follower->links.contains(hello.link)) self_.submit(hello);
  });
}

void SimFollowers::Welcome(Follower& follower) {
  follower.welcome = true;
  Tell(follower, server::LeaderWelcome{term_});
}

void SimFollowers::Tell(Follower& follower, server::LeaderItem item) {
  follower.wire->ToFollower(
      [at_follower = follower.at_follower, item = std::move(item)] { at_follower(item); });
}

void SimFollowers::Send(std::vector<Outgoing> frames) {
  for (auto& outgoing : frames)
    if (auto& welcome = outgoing.frame.welcome)
      welcome->ticket = SimTicket(welcome->cluster, welcome->term);
  for (const auto& outgoing : frames)
    for (const auto& order : outgoing.frame.orders)
      self_.ledger.OrderLeaves(order, keys_.at(outgoing.link), self_.clock.steady(), self_.lease());
  life_.Later(0, [this, frames = std::move(frames)] {
    for (const auto& outgoing : frames)
      if (SeatOf(outgoing.link) == 0)
        self_.gateway.Deliver(outgoing.link, outgoing.frame);
      else
        SendRemote(outgoing);
  });
}

void SimFollowers::SendRemote(Outgoing outgoing) {
  Follower* follower = Find(SeatOf(outgoing.link));
  if (follower == nullptr) return;
  outgoing.link = Abroad(outgoing.link);
  Tell(*follower, std::move(outgoing));
}

void SimFollowers::Close(LinkId link) {
  life_.Later(0, [this, link] {
    if (SeatOf(link) == 0) return self_.gateway.Close(link);
    if (Follower* follower = Find(SeatOf(link))) Tell(*follower, server::CloseLink{Abroad(link)});
  });
}

void SimFollowers::BeginAnew(Term term, const std::string& /*cluster*/) {
  self_.ledger.TermTaken(term);
  life_.Later(0, [this, term] {
    self_.gateway.AskForHello(server::Hearing::By::kThisServer, term);
    term_ = term;
    for (auto& [seat, follower] : followers_) {
      follower.links.clear();
      if (follower.said_hello) Welcome(follower);
    }
  });
}

void SimFollowers::Dismiss() {
  life_.Later(0, [this] {
    term_ = {};
    for (auto& [seat, follower] : std::exchange(followers_, {})) follower.wire->LeaderCloses();
  });
}

void SimFollowers::HangUp() {
  for (auto& [seat, follower] : followers_) follower.wire->LeaderCloses();
}

}  // namespace muster::sim
