#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "adapters/net/event_loop.hpp"
#include "adapters/net/server.hpp"
#include "base/mutex.hpp"
#include "domain/secret.hpp"
#include "ports/clock.hpp"
#include "ports/links.hpp"
#include "ports/store.hpp"
#include "server/gateway/gateway.hpp"
#include "server/peers/peer_frames.hpp"
#include "server/peers/term_tickets.hpp"
#include "server/runtime/worker_pool.hpp"

namespace muster::server {

// The leader's end of a cluster: carries the engine's messages to every link, those that its own
// server holds and those of the servers that follow it, and brings back what the nodes said. To the
// engine a link is a link. A follower that is lost takes its links with it; when it is back, its
// nodes are asked for Hello, as at the beginning of a term.
//
// A server that does not lead sends followers away with the reason.
class Followers final : public Links {
 public:
  struct Exits {
    std::function<void(engine::AnyCommand)> submit;   // to this server's engine
    std::function<void(const StoredOutput&)> stored;  // output that a follower keeps now
    std::function<std::string()> why_not;             // why this server does not lead, in words
    // What a follower says of itself, which has proven its name. On the loop's thread.
    std::function<void(ServerFacts)> proven = {};
    // What a follower finds of its clock: surely so much ahead of this server's.
    std::function<void(const std::string& name, Duration ahead)> clock = {};
    // Hosts that spoke over a follower's links; by this server's clock.
    std::function<void(const std::vector<HeardHost>&)> heard = {};
  };

  // `own` is this server's gateway.
  Followers(net::EventLoop& loop, Gateway& own, Store& store, const Clock& clock,
            WorkerPool& workers, FindSecret find_secret, TermTickets& tickets, Exits exits);

  // For links whose PeerServer() is set; on the loop's thread.
  void OnLink(std::shared_ptr<net::LinkConnection> connection);
  void OnFrame(net::LinkConnection& connection, const std::string& bytes);
  void OnClosed(net::LinkConnection& connection);

  void Send(std::vector<Outgoing> frames) override;
  void Close(LinkId link) override;
  void BeginAnew(Term term, const std::string& cluster) override;
  // The leadership is over: followers go and look for another leader.
  void Dismiss();

  // Tells a follower to drain, or to take part again: now, or when its link comes, which takes a
  // moment after the leadership moved.
  void Drain(const std::string& name, bool wanted);

  // What the followers are told of the cluster, from now on. On the loop's thread.
  void Publish(ClusterFacts facts);

  struct View {
    std::string name;
    std::string version;
    std::size_t links = 0;
  };
  std::vector<View> Views() const EXCLUDES(mutex_);  // by name

 private:
  struct Follower {
    std::shared_ptr<net::LinkConnection> connection;
    std::uint64_t seat = 0;  // above the ids of its links
    std::string name = {};   // known after its Hello
    std::string version = {};
    bool welcome = false;
    std::uint64_t facts = 0;  // number of those that it was told
    std::unordered_set<LinkId> links = {};
    LeaderFrames frames = {};
    bool flushing = false;
  };

  void Take(Follower& from, FollowerItem item);
  void TakeBeat(Follower& from, const FollowerBeat& beat);
  void TakeHello(Follower& from, engine::NodeHello hello);
  void Welcome(Follower& follower);
  void Tell(Follower& follower, const LeaderItem& item);
  void FlushSoon(std::uint64_t connection);
  void SendRemote(std::vector<Outgoing> frames);
  Follower* Find(std::uint64_t seat);
  void Note() EXCLUDES(mutex_);  // brings Views up to date

  net::EventLoop& loop_;
  Gateway& own_;
  Store& store_;
  const Clock& clock_;
  WorkerPool& workers_;
  const FindSecret find_secret_;
  TermTickets& tickets_;
  const Exits exits_;
  // The loop's thread only.
  Term term_;  // zero: this server does not lead
  std::string cluster_;
  std::uint64_t next_seat_ = 1;
  std::map<std::uint64_t, Follower> followers_;  // by the id of their connection
  ClusterFacts facts_;
  std::uint64_t facts_number_ = 0;      // 0: there are none yet
  std::map<std::string, bool> drains_;  // wanted of followers that have no link yet

  mutable base::Mutex mutex_;
  std::vector<View> views_ GUARDED_BY(mutex_);
};

}  // namespace muster::server
