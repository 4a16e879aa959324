#include "cli/server_line.hpp"

#include "adapters/net/endpoint.hpp"
#include "base/text.hpp"

namespace muster::cli {

Result<std::vector<net::Endpoint>> ServerLine::Parse(const std::string& servers) {
  std::vector<net::Endpoint> endpoints;
  for (const auto url : Split(servers, ',')) {
    auto endpoint = net::ParseEndpoint(Trim(url));
    if (!endpoint) return Fail(endpoint.error());
    endpoints.push_back(std::move(*endpoint));
  }
  return endpoints;
}

ServerLine::ServerLine(std::vector<net::Endpoint> servers, const net::TlsIdentity& identity,
                       Duration timeout, std::string trust_hint)
    : trust_hint_(std::move(trust_hint)) {
  for (auto& server : servers) {
    urls_.push_back(net::UrlOf(server));
    clients_.emplace_back(std::move(server), identity, timeout);
  }
}

Result<net::HttpResponse> ServerLine::Try(
    const std::function<Result<net::HttpResponse>(net::HttpClient&)>& call) {
  auto answer = TryEach(call);
  if (!answer && answer.error().code == ErrorCode::kDenied)
    return Fail(ErrorCode::kDenied, "{}; {}", answer.error().message, trust_hint_);
  return answer;
}

Result<net::HttpResponse> ServerLine::TryEach(
    const std::function<Result<net::HttpResponse>(net::HttpClient&)>& call) {
  auto first = call(clients_[at_]);
  if (first) return first;
  const auto code = first.error().code;
  if (clients_.size() == 1 || (code != ErrorCode::kUnavailable && code != ErrorCode::kTimeout))
    return first;
  at_ = (at_ + 1) % clients_.size();
  if (code == ErrorCode::kTimeout) return first;
  for (std::size_t others = 1; others < clients_.size(); ++others) {
    auto next = call(clients_[at_]);
    if (next || next.error().code != ErrorCode::kUnavailable) return next;
    at_ = (at_ + 1) % clients_.size();
  }
  return first;
}

Result<net::HttpResponse> ServerLine::Call(const net::HttpRequest& request) {
  return Try([&](net::HttpClient& client) { return client.Call(request); });
}

Result<net::HttpResponse> ServerLine::Stream(const net::HttpRequest& request, Duration idle,
                                             const std::function<bool(std::string_view)>& on_data) {
  return Try([&](net::HttpClient& client) { return client.Stream(request, idle, on_data); });
}

Result<net::HttpResponse> ServerLine::Upload(const net::HttpRequest& request, std::uint64_t length,
                                             const net::HttpClient::Source& source) {
  return Try([&](net::HttpClient& client) { return client.Upload(request, length, source); });
}

}  // namespace muster::cli
