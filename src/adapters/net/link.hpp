#pragma once

#include <string>

#include "adapters/net/frames.hpp"
#include "adapters/net/server_core.hpp"

namespace muster::net {

// The server's end of a link: a WebSocket of a client with an accepted certificate.
class Link final : public LinkConnection, public Frames, public Tracked {
 public:
  Link(std::shared_ptr<ServerCore> core, Socket socket, std::string peer_key,
       std::string peer_server, std::string remote);

  // Answers the upgrade; after that the program knows the link.
  template <typename Request>
  void Accept(const Request& request) {
    Begin();
    websocket().async_accept(request,
                             [self = Self()](error_code error) { self->OnAccepted(error); });
  }

  std::uint64_t Id() const override { return id_; }
  const std::string& PeerKey() const override { return peer_key_; }
  const std::string& PeerServer() const override { return peer_server_; }
  const std::string& Remote() const override { return remote_; }
  void Send(std::string frame) override;
  std::size_t Unsent() const override { return Queued(); }
  void Close() override;

  void Sweep(MonoTime now) override;
  void Drain() override { Close(); }
  void Drop() override;

 private:
  std::shared_ptr<Link> Self() { return std::static_pointer_cast<Link>(shared_from_this()); }
  void Begin();
  void OnAccepted(error_code error);
  void OnFrame(std::string frame) override;
  void OnClosed(Error why) override;

  const std::uint64_t id_;
  const std::string peer_key_;
  const std::string peer_server_;
  const std::string remote_;
  bool announced_ = false;
  bool behind_ = false;
  std::uint64_t seen_ = 0;
  MonoTime deadline_;
};

}  // namespace muster::net
