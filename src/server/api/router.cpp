#include "server/api/router.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <spdlog/spdlog.h>

#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"

namespace muster::server::api {
namespace {

// Whether the path is one of the pattern. Every call without a token gets here, for each route: it
// ends at the first difference, and makes nothing.
bool Fits(std::string_view pattern, std::string_view path) {
  while (true) {
    const auto wanted = pattern.substr(0, pattern.find('/'));
    const auto given = path.substr(0, path.find('/'));
    if (!wanted.starts_with('{') && wanted != given) return false;
    const bool last = wanted.size() == pattern.size();
    if (last != (given.size() == path.size())) return false;
    if (last) return true;
    pattern.remove_prefix(wanted.size() + 1);
    path.remove_prefix(given.size() + 1);
  }
}

// The parts of a path that fits, by their names in the pattern.
std::map<std::string, std::string> PartsOf(std::string_view pattern, std::string_view path) {
  const auto wanted = Split(pattern, '/');
  const auto given = Split(path, '/');
  std::map<std::string, std::string> parts;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i].starts_with('{'))
      parts[std::string(wanted[i].substr(1, wanted[i].size() - 2))] = given[i];
  return parts;
}

// For an error.
std::string Shown(std::string_view path) {
  constexpr std::size_t kMost = 200;
  std::string text(path.substr(0, kMost + 1));
  CutText(text, kMost);
  return text;
}

Result<Actor> WhoCalls(const net::HttpRequest& request, const Authenticator& people, WallTime now) {
  if (!request.vouched_token.empty()) return people.Vouched(request.vouched_token, now);
  return people.Check(net::FindHeader(request.headers, "Authorization"), now);
}

// A host shows its certificate instead of a token; which files are its business the handler knows.
bool ShowsCertificate(const net::HttpRequest& request, Privilege privilege) {
  return privilege == Privilege::kTransfer && !request.peer_key.empty() &&
         request.vouched_token.empty() && net::FindHeader(request.headers, "Authorization").empty();
}

// Whose share of the workers a call takes: that of a token, also when another server passes the
// call on, or of a host. Callers without either share one; nothing for another server of the
// cluster, which has no share.
std::optional<std::string> LaneOf(const Call& call) {
  if (!call.actor().name.empty()) return "token " + call.actor().name;
  const auto& request = call.request();
  if (!request.peer_server.empty()) return std::nullopt;
  if (!request.peer_key.empty()) return "host " + request.peer_key;
  return std::string(request.method == "GET" ? CallLanes::kNamelessReads : CallLanes::kNameless);
}

// What was asked for, and from where, for the log.
std::string AskedText(const Call& call) {
  const auto& request = call.request();
  return fmt::format("method={} path=\"{}\" remote={} client=\"{}\"", ForLog(request.method),
                     ForLog(call.Path()), ForLog(request.remote),
                     ForLog(net::FindHeader(request.headers, "User-Agent")));
}

// Lines before this one that were not written.
std::string LeftOut(std::uint64_t lines) {
  return lines == 0 ? "" : fmt::format(" left_out={}", lines);
}

}  // namespace

Router::Router(const Authenticator& authenticator, Refusals& refusals, WorkerPool& workers,
               const Clock& clock)
    : authenticator_(authenticator),
      refusals_(refusals),
      workers_(workers),
      lanes_(workers, {.at_work = std::max<std::size_t>(1, workers.Threads() / 2)}),
      clock_(clock) {}

void Router::Add(std::vector<Route> routes) {
  for (auto& route : routes) {
    route.handle = [this, handle = std::move(route.handle)](const CallPtr& call) {
      if (Begin(*call)) handle(call);
    };
    routes_.push_back(std::move(route));
  }
}

// A change is made as it was asked for, also when its client has left.
bool Router::Begin(Call& call) const {
  call.BeginWork(clock_.Read().mono);
  const auto wanted = call.request().method == "GET" ? call.GoesOn() : call.IsAllowed();
  if (!wanted) call.Fail(wanted.error());
  return wanted.has_value();
}

Result<> Router::IsAllowed(const Call& call, const Authenticator& people) const {
  if (stopping_) return Fail(ErrorCode::kUnavailable, "the server is stopping; try again shortly");
  const Now now = clock_.Read();
  if (now.mono >= call.began() + Call::kLongestWork)
    return Fail(ErrorCode::kTimeout,
                "this took longer than {} s and was ended; ask for less in one call, a shorter "
                "period for example",
                Call::kLongestWork / std::chrono::seconds(1));
  const std::string& token = call.actor().name;
  if (token.empty()) return {};  // a certificate, or no token needed
  if (const auto holder = people.Vouched(token, now.wall); !holder) return Fail(holder.error());
  return {};
}

bool Router::Admit(const CallPtr& call, Privilege privilege, const Authenticator& people) {
  const auto needed = RoleFor(privilege);
  if (!needed) return true;
  const auto& request = call->request();
  if (ShowsCertificate(request, privilege)) {
    call->exchange()->KnowCaller();
    return true;
  }
  auto actor = WhoCalls(request, people, clock_.Read().wall);
  if (!actor && actor.error().code == ErrorCode::kUnavailable) {
    call->Fail(actor.error());
    return false;
  }
  if (!actor) {
    LogRefused(unauthenticated_, "unauthenticated", *call, actor.error().message);
    refusals_.NoToken(call, actor.error().message);
    return false;
  }
  call->exchange()->KnowCaller();
  if (actor->role < *needed) {
    const char* article = actor->role == Role::kViewer ? "a" : "an";
    const std::string why = fmt::format("this needs the role {}; token '{}' is {} {}",
                                        Name(*needed), actor->name, article, Name(actor->role));
    LogDenied(*call, actor->name, why);
    call->Fail(403, "denied", why);
    return false;
  }
  call->SetActor(std::move(*actor));
  return true;
}

void Router::LogRefused(RefusalLog& log, std::string_view what, const Call& call,
                        std::string_view why) {
  const auto left_out = log.Admit(clock_.Read().mono);
  if (left_out)
    spdlog::warn("{} {} reason=\"{}\"{}", what, AskedText(call), ForLog(why), LeftOut(*left_out));
}

void Router::LogDenied(const Call& call, const std::string& who, std::string_view why) {
  std::optional<std::uint64_t> left_out;
  {
    base::Lock lock(mutex_);
    left_out = denied_.Admit(clock_.Read().mono);
  }
  if (left_out)
    spdlog::warn("denied by=\"{}\" {} reason=\"{}\"{}", ForLog(who), AskedText(call), ForLog(why),
                 LeftOut(*left_out));
}

CallPtr Router::NewCall(net::HttpRequest request, std::shared_ptr<net::HttpExchange> exchange) {
  return std::make_shared<Call>(
      std::move(request), std::move(exchange),
      fmt::format("q{}-{}", next_request_++, ToHex(crypto::RandomBytes(4))));
}

void Router::RefuseForeign(net::HttpRequest head, std::shared_ptr<net::HttpExchange> exchange,
                           const net::SourceProblem& problem) {
  const auto call = NewCall(std::move(head), std::move(exchange));
  LogRefused(foreign_, "refused", *call, problem.reason);
  call->Fail(problem.status, "denied", problem.reason);
}

void Router::NobodyLeads(net::HttpRequest request, std::shared_ptr<net::HttpExchange> exchange,
                         const std::string& why) {
  NewCall(std::move(request), std::move(exchange))
      ->Fail(503, "unavailable", fmt::format("nobody can answer this now: {}; try again", why),
             {{"Retry-After", "1"}});
}

const Route* Router::Find(const net::HttpRequest& request) const {
  const std::string_view target = request.target;
  const std::string_view path = target.substr(0, target.find('?'));
  const auto found = std::ranges::find_if(routes_, [&](const Route& route) {
    return route.method == request.method && Fits(route.pattern, path);
  });
  return found == routes_.end() ? nullptr : &*found;
}

bool Router::IsOnRecord(const net::HttpRequest& request) const {
  const Route* route = Find(request);
  return route != nullptr && route->on_record;
}

net::BodyVerdict Router::Judge(const net::HttpRequest& head, const Authenticator& people) {
  // Another server of the cluster judges its callers itself.
  if (!head.peer_server.empty()) return {.known_caller = true};
  const Route* route = Find(head);
  if (route != nullptr && (!RoleFor(route->privilege) || ShowsCertificate(head, route->privilege)))
    return {.known_caller = false};
  const auto actor = WhoCalls(head, people, clock_.Read().wall);
  // The leader may know a route that this server does not.
  if (actor && (route == nullptr || actor->role >= *RoleFor(route->privilege)))
    return {.known_caller = true};
  return {.refuse = [this, &people](net::HttpRequest request,
                                    std::shared_ptr<net::HttpExchange> exchange) {
    Handle(std::move(request), std::move(exchange), people, Body::kUnread);
  }};
}

void Router::JudgeOnRecord(PeopleOnRecord& people, const net::HttpRequest& head, Decide decide) {
  const Route* route = Find(head);
  if (!head.peer_server.empty() || (route != nullptr && !RoleFor(route->privilege)))
    return decide(Judge(head, people.people()));
  people.Look([this, &people, head, decide = std::move(decide)](const Result<>& looked) {
    auto verdict = Judge(head, people.people());
    if (!looked && verdict.refuse)
      verdict.refuse = [this, why = looked.error()](net::HttpRequest request,
                                                    std::shared_ptr<net::HttpExchange> exchange) {
        NewCall(std::move(request), std::move(exchange))->Fail(why);
      };
    decide(std::move(verdict));
  });
}

void Router::HandleOnRecord(PeopleOnRecord& people, net::HttpRequest request,
                            std::shared_ptr<net::HttpExchange> exchange) {
  auto asked = std::make_shared<net::HttpRequest>(std::move(request));
  people.Look([this, &people, asked, exchange = std::move(exchange)](const Result<>& looked) {
    if (looked || WhoCalls(*asked, people.people(), clock_.Read().wall))
      return Handle(std::move(*asked), exchange, people.people());
    NewCall(std::move(*asked), exchange)->Fail(looked.error());
  });
}

void Router::Handle(net::HttpRequest request, std::shared_ptr<net::HttpExchange> exchange) {
  Handle(std::move(request), std::move(exchange), authenticator_);
}

void Router::Handle(net::HttpRequest request, std::shared_ptr<net::HttpExchange> exchange,
                    const Authenticator& people, Body body) {
  const auto call = NewCall(std::move(request), std::move(exchange));
  auto found = FindFor(*call);
  if (!found || !Admit(call, found->route->privilege, people)) return;
  // Its token came to be known in this moment.
  if (body == Body::kUnread)
    return call->Fail(503, "unavailable", "try again", {{"Retry-After", "1"}});
  const Route& route = *found->route;
  if (!call->SetParts(std::move(found->parts)))
    return call->Fail(400, "invalid", "the path is not UTF-8 text without control characters");
  call->SetDenied([this](const Call& denied, std::string_view why) {
    const auto& token = denied.actor().name;
    LogDenied(denied, token.empty() ? denied.request().peer_key : token, why);
  });
  call->SetWatch([this, &people](const Call& one) { return IsAllowed(one, people); });
  spdlog::debug("call method={} path={}", route.method, ForLog(call->Path()));
  Dispatch(route, call);
}

void Router::Dispatch(const Route& route, const CallPtr& call) {
  const std::string what = route.method + " " + route.pattern;
  if (route.vital != Vital::kNo) {
    WorkerPool& pool = route.vital == Vital::kHealth ? health_ : metrics_;
    if (!pool.Post([handle = &route.handle, call] { (*handle)(call); }, what))
      call->Fail(503, "unavailable", "the server is too busy; try again shortly");
    return;
  }
  const auto caller = LaneOf(*call);
  const bool urgent = route.urgent && call->actor().role == Role::kAdmin;
  if (!urgent && caller) return lanes_.Post(*caller, route.handle, call, what);
  const auto work = [handle = &route.handle, call] { (*handle)(call); };
  if (!(urgent ? workers_.PostUrgent(work, what) : workers_.Post(work, what)))
    call->Fail(503, "unavailable", "the server is too busy; try again shortly");
}

std::optional<Router::Found> Router::FindFor(Call& call) const {
  const std::string_view path = call.Path();
  std::string allowed;
  for (const auto& route : routes_) {
    if (!Fits(route.pattern, path)) continue;
    if (route.method == call.request().method && call.HasLongQuery()) {
      call.Fail(400, "invalid", "the query has more than 100 parameters; no call takes so many");
      return std::nullopt;
    }
    if (route.method == call.request().method) return Found{&route, PartsOf(route.pattern, path)};
    allowed += (allowed.empty() ? "" : ", ") + route.method;
  }
  if (!allowed.empty())
    call.Fail(405, "invalid",
              fmt::format("{} is not allowed here; use {}", call.request().method, allowed),
              {{"Allow", allowed}});
  else
    call.Fail(404, "not_found",
              fmt::format("there is no '{}' here; see /api/v1/openapi.yaml", Shown(path)));
  return std::nullopt;
}

void Router::LetInOnRecord(PeopleOnRecord& people, net::HttpRequest request,
                           std::shared_ptr<net::HttpExchange> exchange, LetIn then) {
  const auto call = NewCall(std::move(request), std::move(exchange));
  const Route* route = Find(call->request());
  if (route != nullptr &&
      (!RoleFor(route->privilege) || ShowsCertificate(call->request(), route->privilege)))
    return then(call->TakeRequest(), call->exchange(), "");
  people.Look([this, call, route, &people, then = std::move(then)](const Result<>& looked) {
    const auto actor = WhoCalls(call->request(), people.people(), clock_.Read().wall);
    if (!looked && !actor) return call->Fail(looked.error());
    // The leader may know a route that this server does not, and judges the role itself.
    if (route == nullptr && actor) {
      call->exchange()->KnowCaller();
      return then(call->TakeRequest(), call->exchange(), actor->name);
    }
    if (route == nullptr) return static_cast<void>(FindFor(*call));
    if (Admit(call, route->privilege, people.people()))
      then(call->TakeRequest(), call->exchange(), call->actor().name);
  });
}

}  // namespace muster::server::api
