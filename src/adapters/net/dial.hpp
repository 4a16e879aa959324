#pragma once

#include <functional>
#include <memory>
#include <string>

#include "adapters/net/client.hpp"
#include "adapters/net/event_loop_impl.hpp"
#include "adapters/net/socket.hpp"

namespace muster::net {

// Opens one connection to a server: resolves its name, connects, and for https shakes hands with
// the identity's certificate. On the loop's thread.
class Dial final : public std::enable_shared_from_this<Dial> {
 public:
  // kUnavailable: no connection. kDenied: the server's certificate was not accepted.
  using Done = std::function<void(Result<Socket>)>;

  // Calls `done` once, never from within Start; unless it is cancelled before. Sets no deadline.
  static std::shared_ptr<Dial> Start(EventLoop& loop, Endpoint endpoint, TlsIdentity identity,
                                     Done done);
  void Cancel();

  Dial(EventLoop& loop, Endpoint endpoint, TlsIdentity identity, Done done);  // for Start

 private:
  void Resolve();
  template <typename Addresses>
  void ConnectTo(const Addresses& addresses);
  void OnConnected();
  void Shake();
  void Finish(Result<Socket> outcome);
  bool over() const { return done_ == nullptr; }

  EventLoop& loop_;
  const Endpoint endpoint_;
  const TlsIdentity identity_;
  Done done_;
  asio::ip::basic_resolver<Tcp, Executor> resolver_;
  Socket socket_;
};

}  // namespace muster::net
