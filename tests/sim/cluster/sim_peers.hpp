#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ports/links.hpp"
#include "server/peers/leader_clock.hpp"
#include "server/peers/peer_frames.hpp"
#include "sim/cluster/ledger.hpp"
#include "sim/cluster/peer_wire.hpp"
#include "sim/cluster/sim_gateway.hpp"

namespace muster::sim {

// The leader's end of a cluster: what src/server/peers/followers does, without sockets.
class SimFollowers final : public Links {
 public:
  struct Self {
    SimGateway& gateway;
    Store& store;
    const SimClock& clock;
    Ledger& ledger;
    SimGateway::Submit submit;                     // to this server's engine
    std::function<SimCoordinator::Lease()> lease;  // what its leadership rests on
  };
  SimFollowers(World& world, Life life, Self self)
      : world_(world), life_(std::move(life)), self_(std::move(self)) {}

  // A follower's connection; `wire` is the way back to it. Returns its seat.
  std::uint64_t Come(std::shared_ptr<PeerWire> wire,
                     std::function<void(server::LeaderItem)> at_follower);
  void Take(std::uint64_t seat, server::FollowerItem item);
  void Gone(std::uint64_t seat);

  // What this server's own nodes said, on its way to the engine.
  void Note(const engine::NodeHello& hello) { keys_[hello.link] = hello.key; }

  void Send(std::vector<Outgoing> frames) override;
  void Close(LinkId link) override;
  void BeginAnew(Term term, const std::string& cluster) override;
  void Dismiss();
  void HangUp();  // the program ends

 private:
  struct Follower {
    std::shared_ptr<PeerWire> wire;
    std::function<void(server::LeaderItem)> at_follower;
    bool said_hello = false;
    bool welcome = false;
    std::set<LinkId> links;
  };
  void TakeHello(Follower& from, std::uint64_t seat, engine::NodeHello hello);
  void Welcome(Follower& follower);
  static void Tell(Follower& follower, server::LeaderItem item);
  void SendRemote(Outgoing outgoing);
  Follower* Find(std::uint64_t seat);

  World& world_;
  Life life_;
  Self self_;
  Term term_;
  std::uint64_t next_seat_ = 1;
  std::map<std::uint64_t, Follower> followers_;  // by seat
  std::map<LinkId, std::string> keys_;           // who said Hello over a link
};

// A follower's end: what src/server/peers/leader_link does, without sockets.
class SimLeaderLink {
 public:
  // An open connection to a leader.
  struct Way {
    std::shared_ptr<PeerWire> wire;
    std::function<void(server::FollowerItem)> say;  // happens at the leader's end
  };
  // Opens one; nothing when that server is not there. `at_follower` and `closed` happen here.
  using Dial = std::function<std::optional<Way>(const std::string& leader,
                                                std::function<void(server::LeaderItem)> at_follower,
                                                std::function<void()> closed)>;

  // `late`: how many ms at most it sits on what its nodes say, just now.
  SimLeaderLink(World& world, Life life, const SimClock& clock, const std::int64_t& late,
                SimGateway& gateway, Dial dial)
      : world_(world),
        life_(std::move(life)),
        clock_(clock),
        late_(late),
        gateway_(gateway),
        dial_(std::move(dial)) {}

  void Follow(const std::string& leader);
  void AskAgain();
  void Submit(engine::AnyCommand command);
  void HangUp();  // the program ends

  // As server::LeaderLink has them.
  std::optional<MonoTime> Heard() const { return welcome_ ? std::optional(heard_) : std::nullopt; }
  MonoTime Refused() const { return refused_; }

 private:
  void Connect();
  void Retry();
  void Beat();
  void Say(server::FollowerItem item);
  void PassOn(engine::AnyCommand command);
  void Take(server::LeaderItem item);

  World& world_;
  Life life_;
  const SimClock& clock_;
  const std::int64_t& late_;
  SimGateway& gateway_;
  Dial dial_;
  std::string leader_;
  std::optional<Way> way_;
  std::uint64_t round_ = 0;
  std::int64_t passed_on_at_ = 0;  // true time of the last thing that waits to be passed on
  bool welcome_ = false;
  Term term_;
  MonoTime heard_{0};
  MonoTime refused_{0};
  server::LeaderClock leader_clock_;
};

}  // namespace muster::sim
