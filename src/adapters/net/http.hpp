#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::net {

using Headers = std::vector<std::pair<std::string, std::string>>;

// "" when absent; names compare without case.
std::string_view FindHeader(const Headers& headers, std::string_view name) noexcept;

// Whom a remote address stands for when callers are counted: "10.0.0.7:51514" is 10.0.0.7, and of
// IPv6 the /64, as whoever has one address there has all of them. Anything else stays as it is.
std::string SourceOf(std::string_view remote);

// The same when connections are counted: 127.0.0.0/8 is one source there (127.0.0.1), as a local
// user has all of it.
std::string ConnectionSourceOf(std::string_view remote);

struct HttpRequest {
  std::string method = {};  // "GET"
  std::string target = {};  // "/api/v1/runs?limit=5", as it came
  Headers headers = {};
  std::string body = {};
  std::string remote = {};  // "127.0.0.1:51514"
  bool tls = false;
  std::string peer_key = {};     // crypto::KeyIdOfCert of the client's certificate, "" without one
  std::string peer_server = {};  // the client is this server of the cluster, by its certificate
  // The caller holds the token of this name: another server of the cluster has seen it and passed
  // the request on.
  std::string vouched_token = {};
};

struct HttpResponse {
  int status = 200;
  Headers headers = {};  // Content-Length, Date and Connection are the server's own business
  std::string body = {};
  // Instead of `body`: a text that many answers share, so that each of them costs no memory.
  std::shared_ptr<const std::string> shared_body = {};
};

}  // namespace muster::net
