#include "cli/client/server_line.hpp"

#include <optional>

#include "adapters/net/endpoint.hpp"
#include "base/text.hpp"

namespace muster::cli {
namespace {

bool IsHarmless(const net::HttpRequest& request) {
  return request.method == "GET" || request.method == "HEAD" ||
         !net::FindHeader(request.headers, "Idempotency-Key").empty();
}

// Why another server may know better than the one that gave this: it did
// nothing (kUnavailable), or may have done it (kTimeout). Nothing for an answer
// that counts.
std::optional<ErrorCode> TroubleOf(const Result<net::HttpResponse>& answer) {
  if (answer) {
    if (answer->status == 503) return ErrorCode::kUnavailable;
    if (answer->status == 502 || answer->status == 504) return ErrorCode::kTimeout;
    return std::nullopt;
  }
  const auto code = answer.error().code;
  if (code == ErrorCode::kUnavailable || code == ErrorCode::kTimeout) return code;
  return std::nullopt;
}

}  // namespace

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
  const Duration connect = servers.size() > 1 ? std::min(timeout, kConnect) : timeout;
  for (auto& server : servers) {
    urls_.push_back(net::UrlOf(server));
    clients_.emplace_back(std::move(server), identity, timeout, connect);
  }
}

Result<net::HttpResponse> ServerLine::Try(const Attempt& attempt, const MayRepeat& may_repeat) {
  auto answer = TryEach(attempt, may_repeat);
  if (!answer && answer.error().code == ErrorCode::kDenied)
    return Fail(ErrorCode::kDenied, "{}; {}", answer.error().message, trust_hint_);
  return answer;
}

Result<net::HttpResponse> ServerLine::TryEach(const Attempt& attempt, const MayRepeat& may_repeat) {
  std::optional<Result<net::HttpResponse>> first;
  for (std::size_t tried = 1; tried <= clients_.size(); ++tried) {
    auto answer = attempt(clients_[at_], tried == clients_.size());
    const auto trouble = TroubleOf(answer);
    if (!trouble) return answer;
    at_ = (at_ + 1) % clients_.size();
    const bool ends = *trouble == ErrorCode::kTimeout && !may_repeat();
    // What may have happened counts more than what did not.
    if (ends || !first) first = std::move(answer);
    if (ends) break;
  }
  return std::move(*first);
}

Result<net::HttpResponse> ServerLine::Call(const net::HttpRequest& request) {
  const bool harmless = IsHarmless(request);
  return Try(
      [&](net::HttpClient& client, bool last) {
        return harmless && !last ? client.Call(request, kSilence) : client.Call(request);
      },
      [&] { return harmless; });
}

Result<net::HttpResponse> ServerLine::Stream(const net::HttpRequest& request, Duration idle,
                                             const std::function<bool(std::string_view)>& on_data) {
  bool heard = false;
  const auto take = [&](std::string_view bytes) {
    heard = true;
    return on_data(bytes);
  };
  return Try([&](net::HttpClient& client, bool) { return client.Stream(request, idle, take); },
             [&] { return !heard; });
}

Result<net::HttpResponse> ServerLine::Upload(const net::HttpRequest& request, std::uint64_t length,
                                             const net::HttpClient::Source& source) {
  return Try([&](net::HttpClient& client, bool) { return client.Upload(request, length, source); },
             [] { return false; });
}

}  // namespace muster::cli
