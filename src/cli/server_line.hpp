#pragma once

#include <functional>
#include <string>
#include <vector>

#include "adapters/net/client.hpp"

namespace muster::cli {

// HTTP to one of several servers of a cluster, which all answer the same. When the one that
// answered last cannot be reached the others are tried, in their order; each error is then of the
// first one that failed. A call that may have reached its server is not sent to another: whoever
// made it decides. Not thread-safe.
class ServerLine {
 public:
  // `servers`: URLs, one or more, with commas between. kInvalid says what is wrong.
  static Result<std::vector<net::Endpoint>> Parse(const std::string& servers);

  // `trust_hint` ends the message about a certificate that was not accepted.
  ServerLine(std::vector<net::Endpoint> servers, const net::TlsIdentity& identity, Duration timeout,
             std::string trust_hint);

  // Of the server that answered last.
  const std::string& Url() const { return urls_[at_]; }

  Result<net::HttpResponse> Call(const net::HttpRequest& request);
  Result<net::HttpResponse> Stream(const net::HttpRequest& request, Duration idle,
                                   const std::function<bool(std::string_view)>& on_data);
  Result<net::HttpResponse> Upload(const net::HttpRequest& request, std::uint64_t length,
                                   const net::HttpClient::Source& source);

 private:
  Result<net::HttpResponse> TryEach(
      const std::function<Result<net::HttpResponse>(net::HttpClient&)>& call);
  Result<net::HttpResponse> Try(
      const std::function<Result<net::HttpResponse>(net::HttpClient&)>& call);

  std::vector<net::HttpClient> clients_;
  std::vector<std::string> urls_;  // of each of them
  std::string trust_hint_;
  std::size_t at_ = 0;
};

}  // namespace muster::cli
