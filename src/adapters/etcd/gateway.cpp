#include "adapters/etcd/gateway.hpp"

#include <algorithm>

#include "adapters/etcd/messages.hpp"
#include "base/loopback.hpp"

namespace muster::etcd {
namespace {

constexpr std::size_t kMaxMessage = 4 << 20;  // far above etcd's own bound for a request, 1.5 MiB

constexpr std::string_view kLogin = "/v3/auth/authenticate";

// etcd takes its time over passwords, and much more of it when it is busy; a login given up is
// one more that keeps it busy.
constexpr std::chrono::seconds kLoginTimeout{5};

// A wrong password costs etcd as much as a right one.
constexpr std::chrono::seconds kAfterRefusal{5};

// etcd says so with three different errors: after a restart, before a login, after a change of
// users.
bool TokenRefused(const Error& error) {
  const auto says = [&](std::string_view part) { return error.message.contains(part); };
  return says("invalid auth token") || says("user name is empty") || says("auth store is old");
}

// Cuts a stream into its lines, each of which is one message.
class Lines {
 public:
  // False when `on_line` wants no more, or a line has no end.
  template <typename OnLine>
  bool Add(std::string_view piece, OnLine on_line) {
    rest_ += piece;
    std::size_t begin = 0;
    for (std::size_t end; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1)
      if (!on_line(std::string_view(rest_).substr(begin, end - begin))) return false;
    rest_.erase(0, begin);
    return rest_.size() <= kMaxMessage;
  }

 private:
  std::string rest_;
};

}  // namespace

Result<std::vector<net::Endpoint>> ParseEndpoints(const std::vector<std::string>& urls) {
  if (urls.empty())
    return Fail(ErrorCode::kInvalid, "etcd: no endpoint is given; expected https://host:2379");
  std::vector<net::Endpoint> endpoints;
  for (const std::string& url : urls) {
    auto parsed = net::ParseEndpoint(url, "2379");
    if (!parsed) return Fail(ErrorCode::kInvalid, "etcd: {}", parsed.error().message);
    if (!parsed->tls && !IsLoopback(parsed->host))
      return Fail(ErrorCode::kInvalid,
                  "{}: plain http:// is for loopback alone: who is on the network between could "
                  "decide who leads. Write https://{}:{}, with etcd_ca, etcd_cert and etcd_key",
                  url, parsed->host, parsed->port);
    parsed->program = "etcd";
    endpoints.push_back(std::move(*parsed));
  }
  return endpoints;
}

Gateway::Gateway(std::vector<net::Endpoint> endpoints, const EtcdOptions& options, Duration timeout,
                 Session& session, Role role)
    : endpoints_(std::move(endpoints)),
      user_(options.user),
      password_(options.password),
      timeout_(timeout),
      session_(session),
      role_(role) {
  const net::TlsIdentity identity{
      .ca_pem = options.ca_pem, .key_pem = options.key_pem, .cert_pem = options.cert_pem};
  for (const net::Endpoint& endpoint : endpoints_)
    clients_.emplace_back(endpoint, identity, timeout);
}

void Gateway::Abort() {
  for (net::HttpClient& client : clients_) client.Abort();
}

std::string Gateway::NameOfCurrent() const {
  return fmt::format("{}:{}", endpoints_[current_].host, endpoints_[current_].port);
}

net::HttpRequest Gateway::RequestOf(std::string_view path, const std::string& body) const {
  net::HttpRequest request{.method = "POST",
                           .target = std::string(path),
                           .headers = {{"Content-Type", "application/json"}},
                           .body = body};
  // Whoever logs in with a token that is no longer good is refused for that.
  if (path == kLogin) return request;
  if (const auto token = session_.Token(); token && !token->empty())
    request.headers.emplace_back("Authorization", token->Reveal());
  return request;
}

Result<net::HttpResponse> Gateway::Send(std::string_view path, const std::string& body,
                                        Duration silence) {
  std::string received;
  auto response =
      clients_[current_].Stream(RequestOf(path, body), silence, [&](std::string_view piece) {
        received += piece;
        return received.size() <= kMaxMessage;
      });
  if (response && response->status == 200) response->body = std::move(received);
  return response;
}

Gateway::Answer Gateway::AskKnown(std::string_view path, const std::string& body,
                                  Duration silence) {
  auto response = Send(path, body, silence);
  // Also when the certificate was refused: another endpoint may have a better one.
  if (!response) return Fail(ErrorCode::kUnavailable, "{}", response.error().message);
  auto answer = ReadAnswer(response->status, response->body);
  if (answer || answer.error().code != ErrorCode::kUnavailable) return answer;
  return Fail(ErrorCode::kUnavailable, "{}: {}", NameOfCurrent(), answer.error().message);
}

Result<> Gateway::Identify() {
  if (user_.empty() || session_.Token()) return {};
  return LogIn();
}

Result<> Gateway::LogIn() {
  if (role_ == Role::kFollows) return Fail(ErrorCode::kUnavailable, "not logged in yet");
  if (std::chrono::steady_clock::now() < next_login_) return Fail(refused_);
  const auto answer = AskKnown(kLogin, LoginBody(user_, password_.Reveal()), kLoginTimeout);
  if (!answer) {
    const Error& error = answer.error();
    if (error.code == ErrorCode::kUnavailable) return Fail(error);
    if (error.code == ErrorCode::kConflict) {  // users are not switched on there
      session_.Set({});
      return {};
    }
    refused_ = {ErrorCode::kDenied,
                fmt::format("user {}: {}; check user and password", user_, error.message)};
    next_login_ = std::chrono::steady_clock::now() + kAfterRefusal;
    return Fail(refused_);
  }
  auto token = ReadToken(*answer);
  if (!token) return Fail(ErrorCode::kUnavailable, "{}", token.error().message);
  session_.Set(SecretText::Take(*token));
  return {};
}

Gateway::Answer Gateway::AskCurrent(std::string_view path, const std::string& body) {
  if (auto known = Identify(); !known) return Fail(known.error());
  auto answer = AskKnown(path, body, timeout_);
  if (!answer && !user_.empty() && TokenRefused(answer.error())) {
    if (auto in = LogIn(); !in) return Fail(in.error());
    answer = AskKnown(path, body, timeout_);
  }
  if (answer || answer.error().code != ErrorCode::kDenied) return answer;
  return Fail(ErrorCode::kDenied, "{}; {} must be granted to read and write Muster's keys",
              answer.error().message, user_.empty() ? "a user" : user_);
}

Gateway::Answer Gateway::AskOnce(std::string_view path, const std::string& body) {
  auto answer = AskCurrent(path, body);
  if (!answer && answer.error().code == ErrorCode::kUnavailable) MoveOn();
  return answer;
}

Gateway::Answer Gateway::Ask(std::string_view path, const std::string& body) {
  // A lone endpoint is tried twice, as it may just have closed the connection.
  const std::size_t tries = hurry_ ? 1 : std::max<std::size_t>(2, clients_.size());
  std::vector<std::string> reasons;
  for (std::size_t i = 0; i < tries && (i == 0 || !hurry_); ++i) {
    auto answer = AskOnce(path, body);
    if (answer || answer.error().code != ErrorCode::kUnavailable) return answer;
    if (std::ranges::find(reasons, answer.error().message) == reasons.end())
      reasons.push_back(answer.error().message);
  }
  return Fail(ErrorCode::kUnavailable, "no endpoint answers: {}", fmt::join(reasons, "; "));
}

Result<> Gateway::Follow(std::string_view path, const std::string& body, Duration idle,
                         const OnMessage& on_message) {
  if (auto known = Identify(); !known) return known;
  Lines lines;
  bool heard = false;
  bool enough = false;
  Result<> good;
  const auto on_line = [&](std::string_view line) {
    auto message = ReadAnswer(200, line);
    if (!message) good = Fail(message.error());
    if (message) heard = true;
    enough = message && !on_message(*message);
    return message && !enough;
  };
  const auto response =
      clients_[current_].Stream(RequestOf(path, body), idle,
                                [&](std::string_view piece) { return lines.Add(piece, on_line); });
  if (enough) return {};
  if (good && !response) good = Fail(response.error());
  if (good && response->status != 200) {
    auto refused = ReadAnswer(response->status, response->body);
    if (!refused) good = Fail(refused.error());
  }
  if (!heard) MoveOn();
  if (!good) return good;
  return Fail(ErrorCode::kUnavailable, "the stream ended");
}

}  // namespace muster::etcd
