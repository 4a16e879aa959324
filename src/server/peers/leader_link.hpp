#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/net/client.hpp"
#include "adapters/net/event_loop.hpp"
#include "base/mutex.hpp"
#include "ports/clock.hpp"
#include "server/gateway/gateway.hpp"
#include "server/leading/clock_judge.hpp"
#include "server/peers/leader_clock.hpp"
#include "server/peers/peer_frames.hpp"

namespace muster::server {

// A follower's end: one connection to the leader, over which its nodes' words go there and the
// leader's come back. Output stays here; the leader is told that it is kept. While there is no
// leader the nodes stay connected: their output is kept, their reports come again with their Hello.
class LeaderLink {
 public:
  struct Self {
    std::string name;
    std::string version;
    // For a call to the server of that name. Asked at each connection: certificates change.
    std::function<net::TlsIdentity(const std::string& member)> identity;
    std::string trusted_cas;               // whose tickets prove a term
    std::function<std::string()> cluster;  // of which they must be; "" while that is not known
    std::function<void(bool wanted)> drain;
    std::string url = {};               // of this server, for nodes
    std::vector<std::string> cas = {};  // as in ServerFacts
    // On the loop's thread: what the leader, which has proven its term, says of the cluster.
    std::function<void(ClusterFacts)> facts = {};
    std::function<void()> lost;  // on the loop's thread: the leader is gone, or silent
    // Connects to the leader; nothing: over the network.
    using Dial = std::function<std::unique_ptr<net::LinkClient>(
        const net::Endpoint&, const net::TlsIdentity&, net::LinkClient::Handlers)>;
    Dial dial = {};
  };

  // `judge` is told how this machine's clock compares with the leader's.
  LeaderLink(net::EventLoop& loop, Gateway& gateway, const Clock& clock, ClockJudge& judge,
             Self self);
  ~LeaderLink();

  // Whom to follow from now on; "" for nobody. On the loop's thread.
  void Follow(const std::string& name, const std::string& url);

  // Asks every node for Hello again, if there is a leader to hear it. On the loop's thread.
  void AskAgain();

  // From any thread. Without a leader they are dropped.
  void Submit(engine::AnyCommand command);
  void Stored(const std::vector<LogChunk>& chunks);

  // Why there is no way to the leader at the moment; "" when there is.
  std::string Trouble() const EXCLUDES(mutex_);

  // When the leader that is followed was last heard; nothing without one. On the loop's thread.
  std::optional<MonoTime> Heard() const;
  // When the server that is to lead last said that it does not, or not yet: then it was reached,
  // and nobody leads. Likewise.
  MonoTime Refused() const { return refused_; }

 private:
  void Connect();
  std::unique_ptr<net::LinkClient> Dial(const net::Endpoint& endpoint,
                                        net::LinkClient::Handlers handlers);
  void Retry(const std::string& why);
  void Beat();
  void Say(FollowerItem item);
  void FlushSoon();
  void TakeFrame(const std::string& bytes);
  void Take(LeaderItem item);
  void TakeWelcome(const LeaderWelcome& welcome);
  void TakeBeat(const LeaderBeat& beat);
  void Deliver(Links::Outgoing outgoing);
  void SetTrouble(std::string why) EXCLUDES(mutex_);

  net::EventLoop& loop_;
  Gateway& gateway_;
  const Clock& clock_;
  ClockJudge& judge_;
  const Self self_;
  // The loop's thread only.
  std::string leader_;
  std::string url_;
  std::unique_ptr<net::LinkClient> connection_;
  std::uint64_t round_ = 0;  // tells callbacks of an earlier connection apart
  bool open_ = false;
  MonoTime connected_{0};  // since then beats were sent over this connection
  MonoTime heard_{0};
  MonoTime refused_{0};
  Term term_;  // of the leader that welcomed last
  LeaderClock leader_clock_;
  std::optional<Duration> clock_ahead_;  // this machine's, of the leader's
  FollowerFrames frames_;
  bool flushing_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared with posted callbacks

  std::atomic<bool> welcome_{false};
  mutable base::Mutex mutex_;
  std::string trouble_ GUARDED_BY(mutex_) = "no leader yet";
};

}  // namespace muster::server
