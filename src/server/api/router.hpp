#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.hpp"
#include "ports/clock.hpp"
#include "server/api/call.hpp"
#include "server/api/call_lanes.hpp"
#include "server/api/refusals.hpp"
#include "server/auth/authenticator.hpp"
#include "server/auth/refusal_log.hpp"
#include "server/auth/tokens_on_record.hpp"
#include "server/runtime/worker_pool.hpp"

namespace muster::server::api {

// Calls that read memory only and never wait: answered also while all workers wait for the store.
// Metrics take a while to write, so a flood of calls for them does not hold up those for health.
enum class Vital { kNo, kHealth, kMetrics };

// One route. Every route declares what its callers need; docs/people.md has the table.
struct Route {
  std::string method;
  std::string pattern;  // "/api/v1/runs/{id}/stop"
  Privilege privilege;
  std::function<void(CallPtr)> handle;  // on a worker's thread; may block on reads
  // Reads nothing but what is on record: a server that does not lead answers it as well.
  bool on_record = false;
  // Stops what others do. An admin's call waits for no other call, however slow those are.
  bool urgent = false;
  Vital vital = Vital::kNo;
};

// The last members of a route, where they stand for `on_record` and `urgent`.
inline constexpr bool kOnRecord = true;
inline constexpr bool kUrgent = true;

// Finds the route, checks the caller, and runs the handler on the workers. One caller has at most
// half of the workers at a time, callers without a token or certificate together one (CallLanes).
// Refused calls are logged, a bounded number of them, also those that the handler denies.
class Router {
 public:
  Router(const Authenticator& authenticator, Refusals& refusals, WorkerPool& workers,
         const Clock& clock);

  void Add(std::vector<Route> routes);
  // The server is stopping: calls that wait are answered 503, and so is long work (Call::GoesOn).
  // From any thread.
  void EndWork() { stopping_ = true; }
  const std::vector<Route>& routes() const { return routes_; }

  // On the network loop's thread.
  void Handle(net::HttpRequest request, std::shared_ptr<net::HttpExchange> exchange);
  // Whether the body of a request is worth reading: its caller may make this call, or needs no
  // token for it. The body of any other is not read, and the call is refused as Handle does it.
  net::BodyVerdict Judge(const net::HttpRequest& head) { return Judge(head, authenticator_); }
  // The same at a server that does not lead.
  using Decide = std::function<void(net::BodyVerdict)>;
  void JudgeOnRecord(PeopleOnRecord& people, const net::HttpRequest& head, Decide decide);
  // Whether a server that does not lead answers this, with HandleOnRecord.
  bool IsOnRecord(const net::HttpRequest& request) const;
  void HandleOnRecord(PeopleOnRecord& people, net::HttpRequest request,
                      std::shared_ptr<net::HttpExchange> exchange);
  // Lets in a caller whose request the leader will answer: by what is on record, as the leader sees
  // no credential. `then` gets the name of the caller's token, "" where none is needed; a caller
  // who is refused is answered here.
  using LetIn = std::function<void(net::HttpRequest, std::shared_ptr<net::HttpExchange>,
                                   const std::string& token)>;
  void LetInOnRecord(PeopleOnRecord& people, net::HttpRequest request,
                     std::shared_ptr<net::HttpExchange> exchange, LetIn then);
  // Refuses a request for where it comes from, and logs it.
  void RefuseForeign(net::HttpRequest head, std::shared_ptr<net::HttpExchange> exchange,
                     const net::SourceProblem& problem);
  // Answers 503: whoever leads would know, but nobody does at the moment.
  void NobodyLeads(net::HttpRequest request, std::shared_ptr<net::HttpExchange> exchange,
                   const std::string& why);

 private:
  enum class Body : std::uint8_t { kRead, kUnread };
  struct Found {
    const Route* route;
    std::map<std::string, std::string> parts;
  };
  // The route of a call; without one it is answered.
  std::optional<Found> FindFor(Call& call) const;
  void Handle(net::HttpRequest request, std::shared_ptr<net::HttpExchange> exchange,
              const Authenticator& people, Body body = Body::kRead);
  void Dispatch(const Route& route, const CallPtr& call);
  // On a worker's thread, before the handler. False: what happened while the call waited makes it
  // pointless, and it was answered.
  bool Begin(Call& call) const;
  // As Call::IsAllowed.
  Result<> IsAllowed(const Call& call, const Authenticator& people) const;
  net::BodyVerdict Judge(const net::HttpRequest& head, const Authenticator& people);
  const Route* Find(const net::HttpRequest& request) const;
  CallPtr NewCall(net::HttpRequest request, std::shared_ptr<net::HttpExchange> exchange);
  // True when the caller may go on; else the call was answered.
  bool Admit(const CallPtr& call, Privilege privilege, const Authenticator& people);
  // On the network loop's thread; `log` is the bound for such lines.
  void LogRefused(RefusalLog& log, std::string_view what, const Call& call, std::string_view why);
  // `who`: the name of the token, or the key of a certificate.
  void LogDenied(const Call& call, const std::string& who, std::string_view why) EXCLUDES(mutex_);

  const Authenticator& authenticator_;
  Refusals& refusals_;
  WorkerPool& workers_;
  CallLanes lanes_;
  const Clock& clock_;
  std::atomic<bool> stopping_{false};
  RefusalLog unauthenticated_;
  RefusalLog foreign_;
  base::Mutex mutex_;
  // Apart, so that callers without a token and web pages cannot hide what callers with one try.
  RefusalLog denied_ GUARDED_BY(mutex_);
  std::vector<Route> routes_;
  std::uint64_t next_request_ = 1;
  // The last members: their work uses the others.
  WorkerPool metrics_{1, 50};
  WorkerPool health_{1, 1'000};
};

}  // namespace muster::server::api
