#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "adapters/net/event_loop.hpp"
#include "adapters/net/http.hpp"
#include "base/result.hpp"

namespace muster::net {

// "https://host:8440", "http://127.0.0.1:8440". kInvalid says what is wrong.
struct Endpoint {
  bool tls = true;
  std::string host;
  std::string port = "8440";
  std::string program = "musterd";  // what should answer there, for messages
};
Result<Endpoint> ParseEndpoint(std::string_view url, std::string_view default_port = "8440");

// Whom a client believes, and who it is.
struct TlsIdentity {
  std::string ca_pem = {};          // trust these; or, when empty,
  std::string ca_fingerprint = {};  // a chain whose root has this SHA-256 (hex); or, when empty
                                    // too, the system's CAs
  std::string key_pem = {};         // own key and certificate, for links
  std::string cert_pem = {};
  // Asks for the certificate of the cluster's CA, also where the API shows another one. Never in
  // plain text.
  bool cluster = false;
  // The server must prove by a certificate of ca_pem to be the member of this name; then the
  // address it was found at need not be believed. Implies `cluster`.
  std::string member = {};

  bool NeedsTls() const { return cluster || !member.empty(); }
};

// A blocking HTTP client on one kept-alive connection; reconnects when the server closed it. For
// the CLI and for joining. Not thread-safe. kUnavailable: no connection, nothing was sent.
// kTimeout: the request was (or may have been) sent and no answer came. kDenied: the certificate
// was not accepted; the message says why. The server is not trusted with this machine's memory and
// time: an answer that goes past a bound is kTimeout. The bounds are 64 MiB of body, 1 MiB of one
// that is not 2xx, 8 interim answers, `timeout` of silence, and for the whole answer twice the
// `timeout` and a second for each 64 KiB.
// `connect` bounds the making of a connection; zero is as `timeout`.
class HttpClient {
 public:
  HttpClient(Endpoint endpoint, TlsIdentity identity, Duration timeout = std::chrono::seconds(30),
             Duration connect = Duration::zero());
  ~HttpClient();
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;

  Result<HttpResponse> Call(const HttpRequest& request);
  // The same with another bound on the silence before the answer and in it.
  Result<HttpResponse> Call(const HttpRequest& request, Duration silence);

  // Like Call, but hands over the body of a 200 or 206 as it comes, until `on_data` returns false,
  // the body ends or the connection breaks (kTimeout). `idle` bounds the silence between two
  // pieces; the bounds on the size and time of the whole do not hold for such a body. Any other
  // status comes back whole, of at most 1 MiB.
  Result<HttpResponse> Stream(const HttpRequest& request, Duration idle,
                              const std::function<bool(std::string_view)>& on_data);

  // Puts up to `room` bytes at `into` and says how many; 0 is the end, a failure ends the call.
  using Source = std::function<Result<std::size_t>(char* into, std::size_t room)>;

  // Like Call, with a body of `length` bytes that is asked for piece by piece; the request's own is
  // not looked at. When the server answers before it has all, the rest is not sent. Nothing is
  // tried twice.
  Result<HttpResponse> Upload(const HttpRequest& request, std::uint64_t length,
                              const Source& source);

  // Ends the call under way, and every later one, as if its time was over. From any thread.
  void Abort();

  // The CA certificate at the root of the server's chain, PEM; known after the first TLS call.
  const std::string& PeerRootPem() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A node's end of a link, on an EventLoop. One connection attempt each: after on_closed, throw it
// away and make another.
class LinkClient {
 public:
  struct Handlers {
    std::function<void()> on_open;
    std::function<void(std::string frame)> on_frame;
    std::function<void(Error why)> on_closed;  // once; also when the connection never opened
  };
  // Resolves, connects, TLS 1.3 with the identity's certificate, upgrades at `path`.
  static std::unique_ptr<LinkClient> Connect(EventLoop& loop, Endpoint endpoint,
                                             const TlsIdentity& identity, std::string path,
                                             Duration timeout, Handlers handlers);
  virtual ~LinkClient() = default;  // closes without calling on_closed
  virtual void Send(std::string frame) = 0;
  virtual std::size_t Unsent() const = 0;
};

}  // namespace muster::net
