#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adapters/net/event_loop.hpp"
#include "adapters/net/http.hpp"
#include "adapters/net/limits.hpp"
#include "adapters/net/page_guard.hpp"
#include "base/result.hpp"

namespace muster::net {

// A part of a request's body that is taken as it comes.
struct BodyPiece {
  std::string data;
  bool last = false;  // the body is complete
};

// One request waiting for its answer. Safe from any thread; kept alive by whoever will answer. When
// the last reference goes without an answer the client gets 500.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;
  virtual void Respond(HttpResponse response) = 0;  // once

  // Instead of Respond: an answer that goes on (server-sent events, long logs). Chunked.
  virtual void BeginStream(int status, Headers headers) = 0;
  // After BeginStream; ignored once the client is gone. A client that is further behind than
  // max_stream_unsent is gone.
  virtual void Write(std::string data) = 0;
  virtual void End() = 0;
  virtual bool Gone() const = 0;           // the client closed, or the server stops
  virtual std::size_t Unsent() const = 0;  // bytes written but not yet taken by the socket
  // Called once, on the loop's thread, when the client goes away before End.
  virtual void OnGone(std::function<void()> gone) = 0;

  // Instead of Respond: an answer of exactly `length` bytes that follow by Write; fewer at its End
  // break the connection, more are left out. A HEAD is told the length and gets none of them.
  virtual void BeginSized(int status, Headers headers, std::uint64_t length) = 0;
  // Calls `room` once, on the loop's thread, as soon as fewer than `below` bytes are unsent: the
  // pace for whoever reads from a disk. One at a time. Once the client is gone it is dropped.
  virtual void OnRoom(std::size_t below, std::function<void()> room) = 0;
  // Calls `taken` once, on the loop's thread, with the next piece of a body that `streams_body`
  // chose: 256 KB, the last one less. No more is read from the client than was asked for. One at a
  // time. Once the client is gone, or too slow (body_timeout for each piece), it is dropped.
  virtual void ReadBody(std::function<void(BodyPiece)> taken) = 0;

  // The caller has a token or certificate that this call needs. Until then what waits of the answer
  // counts among that of all callers without a name (max_open_unsent).
  virtual void KnowCaller() {}

  // Holds on to `held` until this exchange is over for both sides: its answer went out, or its
  // client left, and its handler let it go.
  virtual void Keep(std::shared_ptr<void> held) = 0;
};

// What becomes of a request's body, decided when its head is there and before a byte of the body is
// read.
struct BodyVerdict {
  // Then the body may have max_body, else max_open_body; a longer one is answered 413.
  bool known_caller = false;
  // Set: the body is not read, the connection closes after the answer, and this answers in the
  // place of on_http. Its request has no body.
  std::function<void(HttpRequest, std::shared_ptr<HttpExchange>)> refuse = {};
};

// One node's link. Its methods are for the loop's thread only.
class LinkConnection {
 public:
  virtual ~LinkConnection() = default;
  virtual std::uint64_t Id() const = 0;            // unique in this server's life
  virtual const std::string& PeerKey() const = 0;  // key id of the client certificate
  // The server of the cluster that calls, by its certificate; "" for a node.
  virtual const std::string& PeerServer() const = 0;
  virtual const std::string& Remote() const = 0;
  // Queued; frames keep their order. A node that is further behind than max_link_unsent is cut off.
  virtual void Send(std::string frame) = 0;
  virtual std::size_t Unsent() const = 0;
  virtual void Close() = 0;  // after what was sent
};

// The keys and certificates of a server.
struct ServerTls {
  std::string key_pem;  // server key and certificate chain (leaf first, then the CA)
  std::string chain_pem;
  std::string client_ca_pem;  // client certificates are asked for, and accepted only from these
  // Shown instead to clients that ask for the cluster's certificate (TlsIdentity::cluster): to
  // nodes and to other servers. Empty: the same for all.
  std::string cluster_key_pem = {};
  std::string cluster_chain_pem = {};
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: the system picks; see Port()
  ServerTls tls;
  bool plain_http = true;  // answer plain HTTP too; only honoured on loopback addresses
  // Hosts that it is called by through a proxy: plain HTTP for other names than these and loopback
  // ones is refused, and so are requests from web pages of other hosts (page_guard.hpp).
  std::vector<std::string> names = {};
  std::string link_path = "/api/v1/link";
  ServerLimits limits;
  // Tells connections apart that are counted for their address; tests have one machine only.
  std::function<std::string(std::string_view remote)> source_of = ConnectionSourceOf;
};

struct ServerHandlers {
  // Called on the loop's thread; must not block.
  std::function<void(HttpRequest, std::shared_ptr<HttpExchange>)> on_http;
  // Whether the body of a request with this method and target is taken piece by piece. Then on_http
  // comes as soon as the head is there, max_body does not hold, and the body must have a
  // Content-Length (411). Without it every body comes whole.
  std::function<bool(std::string_view method, std::string_view target)> streams_body;
  // Judges each request whose body is to be read whole, by its head (`head.body` is empty). Calls
  // `decide` once, on the loop's thread, at once or later; nothing is read from the client until
  // then, and "100 Continue" waits for it too. Without it every body may have max_body.
  std::function<void(const HttpRequest& head, std::function<void(BodyVerdict)> decide)> judge_body;
  // A request that comes from where none is answered (page_guard.hpp), without its body: answers it
  // with `problem`. Without this the server does.
  std::function<void(HttpRequest head, std::shared_ptr<HttpExchange> exchange,
                     const SourceProblem& problem)>
      on_foreign;
  // A WebSocket upgrade on link_path over TLS with an accepted client certificate.
  std::function<void(std::shared_ptr<LinkConnection>)> on_link;
  std::function<void(LinkConnection&, std::string frame)> on_frame;
  std::function<void(LinkConnection&)> on_link_closed;
  // A failed handshake, or a link without a certificate; `source` as of SourceOf. Without it they
  // are warnings.
  std::function<void(std::string_view source, std::string_view why)> on_refused;
  // For the log.
  std::function<void(std::string_view message)> on_warning;
};

// Listens on one port and tells TLS from plain HTTP by the first byte. HTTP/1.1 with keep-alive,
// and WebSocket links. Runs on `loop`'s thread. OpenSSL works on the socket itself (SSL_set_fd), so
// an idle TLS link costs about 26 KB.
class Server {
 public:
  virtual ~Server() = default;  // on the loop's thread, or after it stopped

  // kInvalid: bad address or certificate. kUnavailable: the port is taken.
  static Result<std::unique_ptr<Server>> Listen(EventLoop& loop, ServerOptions options,
                                                ServerHandlers handlers);

  virtual std::uint16_t Port() const = 0;
  virtual std::size_t Connections() const = 0;  // open now; from any thread

  // New connections see this key and chain, and are asked for client certificates of these CAs;
  // open ones stay as they are. kInvalid leaves all as it was. On the loop's thread.
  virtual Result<> UseTls(const ServerTls& tls) = 0;

  // Stops accepting; idle connections close, exchanges in hand may still be answered. Links close.
  virtual void StopAccepting() = 0;
};

}  // namespace muster::net
