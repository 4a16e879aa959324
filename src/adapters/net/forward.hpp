#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "adapters/net/client.hpp"
#include "adapters/net/event_loop.hpp"
#include "adapters/net/http.hpp"
#include "adapters/net/server.hpp"

namespace muster::net {

// Passes requests on to one other server and its answers back, on an EventLoop, over kept-alive
// connections.
//
// What the other server says goes to the client as it is: status, headers but for those of one
// connection (Connection, Transfer-Encoding, …), body. A body that is long or endless is passed on
// piece by piece, at the pace of the slower side: neither direction holds more than half a megabyte
// of it. Events of a stream go on at once.
//
// What the client gets when the other server fails, always in the API's form of errors:
//   503 unavailable  no connection came about, or all were taken: nothing was sent. Try again.
//   504 timeout      it was lost, or silent for too long, after something was sent: the request may
//                    have been carried out.
//   502 timeout      it answered with something that is no HTTP; the same holds.
// Once a part of the answer is on its way none of these is possible any more: the client's
// connection is closed instead, so that it notices.
class Forwarder {
 public:
  struct Options {
    Endpoint to = {};
    TlsIdentity identity = {};
    std::string name = "the leader";  // whom it passes to, in messages for people
    // From Pass until the request can be sent; waiting for a free connection is a part of it.
    Duration connect = std::chrono::seconds(2);
    // The longest silence of the other server while it owes something: the beginning of an answer,
    // or the next part of it. A stream must say something more often (ours do every 15 s).
    Duration silence = std::chrono::seconds(60);
    // A connection that nobody needed for so long is closed; less than a server's idle_timeout.
    Duration idle = std::chrono::seconds(30);
    // Every stream holds one. The other server sees them all from one address: less than its
    // max_connections_per_address.
    std::size_t most_connections = 512;
  };

  static std::unique_ptr<Forwarder> Make(EventLoop& loop, Options options);

  // On the loop's thread, or after it stopped. Whatever is under way ends as if the other server
  // had been lost.
  virtual ~Forwarder() = default;

  // Sends `request` and answers `exchange` with what comes back. The headers go as they are, less
  // those of one connection; each of `more` replaces all of its name, so that a client cannot say
  // such a thing itself. A body that `streams_body` chose is read from the exchange. The caller
  // keeps no reference to the exchange: an answer that cannot be completed is broken off by letting
  // go of it.
  //
  // When the client goes, the connection to the other server is closed, which tells it. A request
  // is sent a second time only when it went over a connection that had been used before, no byte of
  // an answer came, and it is harmless: GET, HEAD, OPTIONS, PUT, DELETE, or any with an
  // Idempotency-Key. Safe from any thread; the exchange may belong to another loop.
  virtual void Pass(HttpRequest request, std::shared_ptr<HttpExchange> exchange,
                    Headers more = {}) = 0;

  // Open ones, also those in the making. On the loop's thread.
  virtual std::size_t Connections() const = 0;

  // New connections are made with this identity. On the loop's thread.
  virtual void UseIdentity(TlsIdentity identity) = 0;
};

}  // namespace muster::net
