#include "adapters/net/endpoint.hpp"

#include <charconv>

#include "adapters/net/client.hpp"

namespace muster::net {
namespace {

bool IsPort(std::string_view text) {
  unsigned port = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port > 0 && port <= 65535;
}

bool IsHost(std::string_view text) {
  constexpr std::string_view kForbidden(" \t\r\n/?#@\\\"<>[]%\0", 17);
  return !text.empty() && text.size() <= 253 &&
         text.find_first_of(kForbidden) == std::string_view::npos;
}

}  // namespace

Result<Endpoint> ParseEndpoint(std::string_view url, std::string_view default_port) {
  auto invalid = [=](std::string_view why) {
    return Fail(ErrorCode::kInvalid, "\"{}\" is no server address: {}; expected https://host:{}",
                url, why, default_port);
  };
  Endpoint endpoint{.port = std::string(default_port)};
  std::string_view rest = url;
  if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    endpoint.tls = false;
    rest.remove_prefix(7);
  } else {
    return invalid("it must begin with https:// or http://");
  }
  if (rest.ends_with('/')) rest.remove_suffix(1);

  std::string_view port;
  if (rest.starts_with('[')) {
    std::size_t close = rest.find(']');
    if (close == std::string_view::npos) return invalid("a bracket is missing");
    port = rest.substr(close + 1);
    endpoint.host = rest.substr(1, close - 1);
    if (!port.empty() && !port.starts_with(':')) return invalid("no port after the bracket");
  } else {
    std::size_t colon = rest.find(':');
    endpoint.host = rest.substr(0, colon);
    if (colon != std::string_view::npos) port = rest.substr(colon);
  }
  if (!IsHost(endpoint.host)) return invalid("bad host");
  if (!port.empty()) {
    port.remove_prefix(1);
    if (!IsPort(port)) return invalid("bad port");
    endpoint.port = port;
  }
  return endpoint;
}

std::string AuthorityOf(const Endpoint& endpoint) {
  bool v6 = endpoint.host.find(':') != std::string::npos;
  return v6 ? fmt::format("[{}]:{}", endpoint.host, endpoint.port)
            : fmt::format("{}:{}", endpoint.host, endpoint.port);
}

std::string UrlOf(const Endpoint& endpoint) {
  return (endpoint.tls ? "https://" : "http://") + AuthorityOf(endpoint);
}

Error ConnectError(const Endpoint& endpoint, std::string_view why) {
  return {ErrorCode::kUnavailable, fmt::format("cannot connect to {}: {}; is {} running there?",
                                               UrlOf(endpoint), why, endpoint.program)};
}

Error PlainError(const Endpoint& endpoint) {
  return {ErrorCode::kDenied,
          fmt::format("{} is not used: servers and nodes of a cluster speak TLS only; it must be "
                      "https://…",
                      UrlOf(endpoint))};
}

Error HandshakeError(const Endpoint& endpoint, const Attempt& attempt, const SSL* ssl) {
  std::string why = FailureText(attempt, ssl);
  if (CertificateRefused(ssl)) {
    return {ErrorCode::kDenied,
            fmt::format("the certificate of {} was not accepted: {}; check the address and the CA "
                        "this client trusts",
                        UrlOf(endpoint), why)};
  }
  if (attempt.reason != nullptr && std::string_view(attempt.reason) == "wrong version number") {
    return {
        ErrorCode::kUnavailable,
        fmt::format("{} does not speak TLS on this port; is the address right?", UrlOf(endpoint))};
  }
  return {ErrorCode::kUnavailable, fmt::format("TLS with {} failed: {}", UrlOf(endpoint), why)};
}

}  // namespace muster::net
