#pragma once

#include <functional>
#include <string>
#include <vector>

#include "adapters/net/client.hpp"

namespace muster::cli {

// HTTP to one of several servers of a cluster, which all answer the same. Each call goes to the one
// that answered last. The next one of the list is asked, and so on once around, if
//   - a server cannot be reached within kConnect, or answers 503: nothing happened there;
//   - a server is silent for kSilence, breaks off, or answers 502 or 504, and the call may be
//     repeated: it is a GET or HEAD, or has an Idempotency-Key.
// Any other call that may have reached its server is not sent to another: its caller decides, and
// the next call goes to the next server. The error is that of the first server that failed. With
// one server there is no other bound than `timeout`. Not thread-safe.
class ServerLine {
 public:
  static constexpr Duration kConnect = std::chrono::seconds(5);
  static constexpr Duration kSilence = std::chrono::seconds(10);

  // `servers`: URLs, one or more, with commas between. kInvalid says what is wrong.
  static Result<std::vector<net::Endpoint>> Parse(const std::string& servers);

  // `trust_hint` ends the message about a certificate that was not accepted.
  ServerLine(std::vector<net::Endpoint> servers, const net::TlsIdentity& identity, Duration timeout,
             std::string trust_hint);

  // Of the server that answered last.
  const std::string& Url() const { return urls_[at_]; }
  // Its number in the list, and how many there are.
  std::size_t At() const { return at_; }
  std::size_t Size() const { return urls_.size(); }
  // The next call goes to the server of this number.
  void Prefer(std::size_t at) { at_ = at % urls_.size(); }

  Result<net::HttpResponse> Call(const net::HttpRequest& request);
  // A stream that brought something is not begun again at another server.
  Result<net::HttpResponse> Stream(const net::HttpRequest& request, Duration idle,
                                   const std::function<bool(std::string_view)>& on_data);
  Result<net::HttpResponse> Upload(const net::HttpRequest& request, std::uint64_t length,
                                   const net::HttpClient::Source& source);

 private:
  // `last`: there is no other server to ask after this one.
  using Attempt = std::function<Result<net::HttpResponse>(net::HttpClient& client, bool last)>;
  using MayRepeat = std::function<bool()>;

  Result<net::HttpResponse> TryEach(const Attempt& attempt, const MayRepeat& may_repeat);
  Result<net::HttpResponse> Try(const Attempt& attempt, const MayRepeat& may_repeat);

  std::vector<net::HttpClient> clients_;
  std::vector<std::string> urls_;  // of each of them
  std::string trust_hint_;
  std::size_t at_ = 0;
};

}  // namespace muster::cli
