#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "server/peers/peer_frames.hpp"
#include "sim/cluster/sim_life.hpp"
#include "sim/world.hpp"

namespace muster::sim {

// How ill the network between two servers is just now.
struct PeerMood {
  bool cut = false;
  std::int64_t usual = 2;  // ms one way
  std::int64_t rare = 200;
};

// A connection between two servers, from the follower to the leader. Frames keep their order; when
// one is lost, so is all that follows, and each end notices in its own time.
class PeerWire : public std::enable_shared_from_this<PeerWire> {
 public:
  struct End {
    Life life;
    std::function<void()> closed;
  };

  PeerWire(World& world, const PeerMood& mood, End follower, End leader)
      : world_(world), mood_(mood), follower_{std::move(follower)}, leader_{std::move(leader)} {}

  // `take` happens at the other end.
  void ToLeader(std::function<void()> take) { Carry(leader_, std::move(take)); }
  void ToFollower(std::function<void()> take) { Carry(follower_, std::move(take)); }
  // This end has given it up (or died); the other hears of it.
  void FollowerCloses() { Close(follower_, leader_); }
  void LeaderCloses() { Close(leader_, follower_); }

 private:
  struct Side {
    End end;
    std::int64_t at = 0;  // when the last frame to it arrives
    bool open = true;
  };

  void Carry(Side& to, std::function<void()> take) {
    to.at = std::max(to.at, world_.Now() + world_.Delay(mood_.usual, mood_.rare));
    world_.After(to.at - world_.Now(),
                 [this, self = shared_from_this(), &to, take = std::move(take)] {
                   if (mood_.cut) broken_ = true;
                   if (broken_) return;
                   to.end.life.Later(0, [self, &to, take] {
                     if (to.open) take();
                   });
                 });
  }

  void Close(Side& from, Side& to) {
    from.open = false;
    const std::int64_t notices =
        mood_.cut || broken_ ? world_.Between(1000, 15'000) : world_.Delay(mood_.usual, mood_.rare);
    to.at = std::max(to.at, world_.Now() + notices);
    world_.After(to.at - world_.Now(), [self = shared_from_this(), &to] {
      to.end.life.Later(0, [self, &to] {
        if (std::exchange(to.open, false)) to.end.closed();
      });
    });
  }

  World& world_;
  const PeerMood& mood_;
  Side follower_;
  Side leader_;
  bool broken_ = false;
};

}  // namespace muster::sim
