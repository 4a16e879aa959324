#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "adapters/net/event_loop.hpp"
#include "adapters/net/server.hpp"
#include "domain/secret.hpp"
#include "link/codec/codec.hpp"
#include "link/codec/frame_shape.hpp"
#include "ports/clock.hpp"
#include "ports/links.hpp"
#include "ports/log_store.hpp"
#include "ports/store.hpp"
#include "server/auth/refusal_log.hpp"
#include "server/gateway/hearing.hpp"
#include "server/gateway/hello_queue.hpp"
#include "server/gateway/intake.hpp"
#include "server/gateway/named_servers.hpp"
#include "server/gateway/output_bounds.hpp"
#include "server/gateway/renewals.hpp"
#include "server/live/heard_host.hpp"
#include "server/runtime/allowance.hpp"
#include "server/runtime/worker_pool.hpp"

namespace muster::server {

// Holds the nodes' links on the network loop's thread: turns frames into commands for the engine
// and the engine's messages into frames. It answers heartbeats itself and acknowledges stored
// output; every other word to a node is the engine's.
//
// A node that says more than a node can have to say (frame_check.hpp), says it faster than anyone
// could act on it, or sends output ahead of its window or past its task's quota loses its link.
// Output of a task that the node does not hold is left out, and so are certificate requests that
// come too often (renewals.hpp). A certificate has a few links at a time; what it may say is
// counted over all of them, before it is decoded (admission.cpp), and one Hello of it is looked up
// at a time (hello_queue.hpp). A host that is revoked or unknown is refused before it says a word.
class Gateway final : public Links {
 public:
  using Submit = std::function<void(engine::AnyCommand)>;
  // Where nodes get their certificates. `sign` gives a certificate for a request of the node that
  // is known by `key`; it runs on a worker, for one request at a time.
  struct Office {
    link::Papers papers;                       // what every node should have; no certificate
    std::string trusts;                        // the fact of a node that has papers.ca_pem
    Duration every = std::chrono::minutes(1);  // a node gets one at most
    std::function<Result<std::string>(const std::string& request_pem, const std::string& key,
                                      const std::string& host)>
        sign;
  };
  using Stored = std::function<void(const std::vector<LogChunk>&)>;

  Gateway(net::EventLoop& loop, Store& store, LogStore& logs, const Clock& clock,
          WorkerPool& workers, Stored stored);

  // Where commands go; set once, before the first link.
  void SetSubmit(Submit submit) { submit_ = std::move(submit); }
  // Told of each node that is refused; set once, before the first link.
  using Refused = std::function<void(const std::string& remote)>;
  void SetRefused(Refused refused) { refused_ = std::move(refused); }

  // Whether the host with this key is known to be revoked; asked on the loop's thread for each new
  // link. Set once, before the first link.
  void SetRevoked(std::function<bool(const std::string& key)> revoked) {
    revoked_ = std::move(revoked);
  }

  // What orders that name secrets are filled from, and what to do before a new leadership's first
  // order (its term is taken by then); set once, before the first link.
  void SetSecrets(FindSecret find, std::function<void()> renew) {
    find_secret_ = std::move(find);
    renew_secrets_ = std::move(renew);
  }

  void SetOffice(Office office);  // once, before the first link

  // URLs of the servers that nodes may connect to: told with each Welcome and goodbye, and with the
  // answer to a heartbeat when they changed; asked on the loop's thread. None leaves what a node
  // knows. Set once, before the first link.
  void SetServers(NamedServers::Ask servers) { servers_.SetAsk(std::move(servers)); }

  // Sends every node elsewhere: each link is told goodbye and closed, one after the other, evenly
  // over so long, for as long as `still` holds. Links that open later are not. On the loop's
  // thread.
  void SayGoodbye(Duration over, std::function<bool()> still);

  // Whether a node that has other servers to try is sent there instead of being heard; asked on the
  // loop's thread. Set once, before the first link.
  void SetSendsAway(std::function<bool()> sends_away) { sends_away_ = std::move(sends_away); }

  // Handlers for net::ServerHandlers, on the loop's thread.
  void OnLink(std::shared_ptr<net::LinkConnection> connection);
  void OnFrame(net::LinkConnection& connection, const std::string& bytes);
  void OnClosed(net::LinkConnection& connection);

  void Send(std::vector<Outgoing> frames) override;
  void Close(LinkId link) override;
  void BeginAnew(Term term, const std::string& cluster) override;

  // For a leader elsewhere, on the loop's thread: asks every node for Hello, as BeginAnew does, and
  // sends a frame in which all secrets are filled in already.
  void BeginElsewhere(Term term) { AskForHello(Hearing::By::kLeaderElsewhere, term); }
  void EndHere() { hearing_.EndsHere(); }  // on the loop's thread: what BeginAnew began is over
  void Deliver(LinkId link, const link::ServerFrame& frame) { SendNow(link, frame); }

  // Whom the nodes' words are for. From any thread.
  Hearing::By HeardBy() const { return hearing_.Now(); }

  std::size_t LinkCount() const { return link_count_; }

  // Hosts that spoke since the last call, and when they did last; at most so many, the others come
  // with the next call. On the loop's thread.
  std::vector<HeardHost> TakeHeard(std::size_t most);

 private:
  struct OfKey {
    Allowance allowance;  // of frames and of what is in them
    std::size_t links = 0;
    // What the engine last said to it, and until when that is said to its next links as well.
    std::optional<link::Refusal> refusal = {};
    MonoTime refused_until = {};
    RefusalLog closed{1, std::chrono::minutes(1)};  // lines

    void Offend(MonoTime now);  // it sent what no agent sends
  };
  struct Link {
    std::shared_ptr<net::LinkConnection> connection;
    OfKey* of_key;          // its certificate's
    MonoTime heard;         // when it spoke last
    MonoTime noted = {};    // in heard_
    bool greeted = false;   // said Hello
    bool welcomed = false;  // once or more; by whom it is heard may have changed since
    HostId host = {};       // known once welcomed
    std::string name = {};  // as well
    bool outdated = false;  // its Hello tells of other papers than the office's
    OutputBounds bounds = {};
    bool closing = false;                  // no longer listened to
    int hellos = 0;                        // being looked up
    std::uint64_t servers = 0;             // the list it was told of
    std::deque<std::size_t> storing = {};  // bytes of output by frame, until it is acknowledged
    std::size_t storing_bytes = 0;
    // For whoever works for it on another thread.
    std::shared_ptr<std::atomic<bool>> gone = std::make_shared<std::atomic<bool>>(false);
  };

  void AskForHello(Hearing::By by, Term term);
  void SweepKeys(MonoTime now);
  bool TurnsAway(net::LinkConnection& connection, OfKey& of_key, MonoTime now);
  void KeepRefusal(OfKey& of_key, const link::Refusal& refusal) const;
  // Charges a frame to its certificate and decodes it. An error closes the link.
  static Result<link::NodeFrame> Admit(Link& link, const std::string& bytes, MonoTime now);
  static Result<link::NodeFrame> Decode(const Link& link, const link::FrameShape& shape,
                                        const std::string& bytes);
  void LogClosed(Link& link, const std::string& why) const;
  void TakeHello(Link& link, link::Hello hello);
  void LookUpNext(const std::string& key);
  void LookUp(const std::atomic<bool>& gone, engine::NodeHello command);
  Result<OutputRooms> Look(const std::atomic<bool>& gone, engine::NodeHello& command);
  void TakeRenewal(const Link& link, std::string request_pem);
  void SignNext();
  void SendSigned(const Renewals::Request& request, const Result<std::string>& cert);
  bool Outdated(const Labels& facts) const;
  Result<> TakeOutput(Link& link, link::NodeFrame& frame);
  // False: the link is to be closed instead (OutputBounds::Note).
  bool Note(Link& link, const link::ServerFrame& frame);
  void SendNow(LinkId link, const link::ServerFrame& frame);
  void CloseSoon(LinkId link, const Error& why);  // from any thread
  void CloseNow(LinkId link, const std::string& why);
  void SayGoodbyeTo(LinkId link);

  net::EventLoop& loop_;
  Store& store_;
  LogStore& logs_;
  const Clock& clock_;
  WorkerPool& workers_;
  Submit submit_;
  Office office_;
  Renewals renewals_;  // the loop's thread only
  Refused refused_;
  std::function<bool(const std::string&)> revoked_ = [](const std::string&) { return false; };
  NamedServers servers_;
  std::function<bool()> sends_away_ = [] { return false; };
  FindSecret find_secret_ = [](std::string_view name) -> Result<std::string> {
    return Fail(ErrorCode::kNotFound, "there is no secret '{}'", name);
  };
  std::function<void()> renew_secrets_;
  Intake intake_;
  Hearing hearing_;
  link::ServerFrameEncoder encoder_;
  // The loop's thread only.
  std::unordered_map<LinkId, Link> links_;
  std::unordered_map<std::string, OfKey> keys_;  // of certificates
  HelloQueue hellos_;
  std::unordered_map<HostId, MonoTime> heard_;  // not taken yet
  std::atomic<std::size_t> link_count_{0};
};

}  // namespace muster::server
