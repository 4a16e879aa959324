#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/net/client.hpp"
#include "adapters/net/event_loop.hpp"
#include "adapters/net/forward.hpp"
#include "adapters/net/server.hpp"
#include "base/mutex.hpp"
#include "ports/clock.hpp"
#include "ports/coordinator.hpp"
#include "server/peers/cut_off.hpp"
#include "server/peers/leader_link.hpp"
#include "server/peers/proven_servers.hpp"
#include "server/peers/seen_members.hpp"

namespace muster::server {

// This server among the others: says that it is there, knows who leads, and sends what is the
// leader's business to the leader, whether that is this server or another. A server that is alone
// is its own leader.
class Cluster {
 public:
  struct Settings {
    Member self;
    // For a call to the server of that name, which must prove to be it.
    std::function<net::TlsIdentity(const std::string& member)> identity;
    std::string trusted_cas;          // of the cluster, PEM
    std::vector<std::string> cas;     // their ids, as in ServerFacts
    std::function<std::string()> id;  // the cluster's, as the store has it; "" until that is read
    // Without a way to a leader for so long it sends its nodes to other servers.
    Duration send_away_after = std::chrono::seconds(5);
  };
  struct Exits {
    std::function<void(engine::AnyCommand)> submit;  // to this server's engine
    std::function<void(bool wanted)> stand_by;       // be no candidate
    std::function<std::size_t()> links;              // open here
    std::function<bool()> engine_leads;              // it has loaded, and decides
    std::function<std::string()> engine_trouble;     // why its engine takes no commands
    // Send the nodes to other servers, over so long, for as long as `still` holds.
    std::function<void(Duration over, std::function<bool()> still)> say_goodbye;
    std::function<std::string()> cannot_lead;       // why it does not compete, beside draining; ""
    std::function<bool()> reaches_store;            // it did within the last seconds
    std::function<std::vector<HostsOfCa>()> hosts;  // known to this server's engine
    std::function<void(ClusterFacts)> publish;      // to the servers that follow this one
  };
  using View = SeenMembers::View;

  Cluster(net::EventLoop& loop, Coordinator& coordinator, Gateway& gateway, const Clock& clock,
          ClockJudge& judge, Settings settings, Exits exits);
  ~Cluster();

  void Start();  // on the loop's thread, or before it runs

  // What the nodes of this server said. From any thread.
  void Submit(engine::AnyCommand command);
  // Output that came over this server's links. True when this server leads: then it is its own to
  // show.
  bool Stored(const std::vector<LogChunk>& chunks);

  // Who answers a request.
  enum class Answers {
    kHere,    // this server, with what the request now says of its caller
    kRecord,  // this server, which asks the store who may
    kLeader,  // the leader, by PassOn, once this server has let the caller in
    kNobody,  // there is no leader, or no way to it: NotReady says why
  };
  // `on_record`: the store knows all of the answer. On the loop's thread.
  Answers WhoAnswers(net::HttpRequest& request, const std::function<bool()>& on_record);
  // To the leader, on behalf of the holder of the token of that name; "" for a caller without one.
  // The caller's credential stays here. False: there is no way to a leader, and nothing was done.
  // On the loop's thread.
  bool PassOn(net::HttpRequest& request, const std::shared_ptr<net::HttpExchange>& exchange,
              const std::string& token);

  // What this server led is over. From any thread.
  void EndedHere();

  // A follower proved to be this server. On the loop's thread.
  void Proven(ServerFacts facts) EXCLUDES(mutex_);
  // What is known of the other servers' and the hosts' CAs, also of servers that went lately: then
  // their CAs are none. Nothing while this server neither leads nor was told by the leader. On the
  // loop's thread.
  std::optional<ClusterFacts> Facts() const EXCLUDES(mutex_);

  void Drain(bool wanted);
  // Why this server can neither lead nor take nodes: it sends them to others and stands by until
  // it is told "". From any thread.
  void SetUnfit(std::string why) EXCLUDES(mutex_);
  // Why this server's data folder has no room for new runs; "" when it has. True: another server
  // can lead, whose folder has room, so this one does not. From any thread.
  bool SetDiskLow(std::string why) EXCLUDES(mutex_);
  // Nodes are better off at another server: this one drains, is unfit, or has lost its leader or
  // the store.
  bool SendsAway() const { return leaves_ || cut_off_; }
  // Why a load balancer should send nobody here; "" when it should.
  std::string NotReady() const EXCLUDES(mutex_);
  bool Leads() const { return coordinator_.LeadUntil() > MonoTime{0}; }

  std::vector<View> Servers() const EXCLUDES(mutex_);  // by name, also those that went lately
  // Of servers for nodes to know; none while this server was started just now and members have not
  // proven themselves yet. From any thread.
  std::vector<std::string> Urls() const EXCLUDES(mutex_);
  std::vector<Member> Others() const;  // all that are there but this one

 private:
  static constexpr Duration kGoodbyeWithin = std::chrono::seconds(5);  // nodes move in this time

  // The way from the coordinator's thread, which may outlive this, to the loop.
  struct Way {
    base::Mutex mutex;
    net::EventLoop* loop GUARDED_BY(mutex) = nullptr;
  };

  void Refresh() EXCLUDES(mutex_);
  void LoseLeader();
  // There is a leader elsewhere that has proven its term.
  bool MayPassOn() const { return forwarder_ != nullptr && leader_link_.Heard().has_value(); }
  void RetireForwarder();  // no new call goes this way; those under way have a moment
  void RenewForwarder();   // with a certificate that is good
  void AnnounceSoon();
  Member Self() const EXCLUDES(mutex_);  // as it is now
  void TakePart() EXCLUDES(mutex_);      // or not: tells everybody
  void StandBy() EXCLUDES(mutex_);       // or compete, as things are now
  // Its disk is low, and another server that leads would start what this one cannot.
  bool Yields() const EXCLUDES(mutex_);
  void Announce() EXCLUDES(mutex_);
  // Looks several times a second whether there is a way to a leader.
  void WatchWay();
  CutOff::Sees LookAround(MonoTime now) const;
  void NoteMembers(const std::vector<Member>& members) EXCLUDES(mutex_);
  void TakeFacts(ClusterFacts facts) EXCLUDES(mutex_);
  void PublishFacts() EXCLUDES(mutex_);  // if it leads

  net::EventLoop& loop_;
  Coordinator& coordinator_;
  const Clock& clock_;
  const ClockJudge& judge_;
  const Settings settings_;
  const Exits exits_;
  const MonoTime started_;
  Gateway& gateway_;
  LeaderLink leader_link_;
  // The loop's thread only.
  std::string forwards_to_;
  std::unique_ptr<net::Forwarder> forwarder_;
  std::deque<std::unique_ptr<net::Forwarder>> retired_;
  Member told_;  // what was announced last
  CutOff way_to_leader_;
  std::string facts_of_;  // the leader that told them
  std::vector<HostsOfCa> told_hosts_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared with posted callbacks

  const std::shared_ptr<Way> way_ = std::make_shared<Way>();  // shared with the coordinator
  std::atomic<bool> draining_{false};
  std::atomic<bool> leaves_{false};  // it drains, or is unfit
  std::atomic<bool> cut_off_{false};
  mutable base::Mutex mutex_;
  std::string unfit_ GUARDED_BY(mutex_);
  std::string disk_low_ GUARDED_BY(mutex_);
  bool yields_ GUARDED_BY(mutex_) = false;  // as it was said last
  SeenMembers seen_ GUARDED_BY(mutex_);
  ProvenServers proven_ GUARDED_BY(mutex_);
};

}  // namespace muster::server
