#include "adapters/net/client.hpp"
#include "adapters/net/dial.hpp"
#include "adapters/net/endpoint.hpp"
#include "adapters/net/event_loop_impl.hpp"
#include "adapters/net/frames.hpp"

namespace muster::net {
namespace {

namespace websocket = beast::websocket;

// A frame longer than any the server sends.
constexpr std::size_t kMaxFrame = 64 << 20;

// The connection itself; kept alive by the handle and by what is in flight.
class ClientLink final : public Frames {
 public:
  ClientLink(EventLoop& loop, Endpoint endpoint, std::string path, LinkClient::Handlers handlers)
      : Frames(Socket(TcpSocket(loop.impl().context)), kMaxFrame),
        loop_(loop),
        endpoint_(std::move(endpoint)),
        path_(std::move(path)),
        handlers_(std::move(handlers)) {}

  void Start(TlsIdentity identity, Duration timeout);
  void Abandon();
  bool open() const { return open_; }

 private:
  // What is only needed until the link is open.
  struct Opening {
    std::shared_ptr<Dial> dial;
    websocket::response_type response;
  };

  std::shared_ptr<ClientLink> Self() {
    return std::static_pointer_cast<ClientLink>(shared_from_this());
  }
  void Upgrade();
  void OnUpgraded(error_code error);
  void OnFrame(std::string frame) override;
  void OnClosed(Error why) override;
  void GiveUp(Error why);
  void EndOpening();

  EventLoop& loop_;
  const Endpoint endpoint_;
  const std::string path_;
  const LinkClient::Handlers handlers_;
  std::unique_ptr<Opening> opening_;
  EventLoop::TimerId timer_ = 0;
  bool open_ = false;
  bool silent_ = false;  // the program lost interest
};

void ClientLink::Start(TlsIdentity identity, Duration timeout) {
  opening_ = std::make_unique<Opening>();
  timer_ = loop_.After(timeout, [self = Self()] {
    self->GiveUp(ConnectError(self->endpoint_, "no answer in time"));
  });
  opening_->dial =
      Dial::Start(loop_, endpoint_, std::move(identity), [self = Self()](Result<Socket> opened) {
        if (!opened) return self->GiveUp(opened.error());
        self->socket() = std::move(*opened);
        self->Upgrade();
      });
}

void ClientLink::Upgrade() {
  websocket().async_handshake(opening_->response, AuthorityOf(endpoint_), path_,
                              [self = Self()](error_code error) {
                                if (!self->closed()) self->OnUpgraded(error);
                              });
}

void ClientLink::OnUpgraded(error_code error) {
  if (error == websocket::error::upgrade_declined) {
    bool denied = opening_->response.result_int() / 100 == 4;
    return GiveUp({denied ? ErrorCode::kDenied : ErrorCode::kUnavailable,
                   fmt::format("{} refused the link: {} {}", UrlOf(endpoint_),
                               opening_->response.result_int(), opening_->response.body())});
  }
  if (error && socket().tls_reason() != nullptr) {
    // In TLS 1.3 a server refuses a client's certificate only after our side of the handshake.
    return GiveUp(
        {ErrorCode::kDenied, fmt::format("{} refused our certificate: {}; join this cluster again",
                                         UrlOf(endpoint_), socket().tls_reason())});
  }
  if (error) return GiveUp(ConnectError(endpoint_, error.message()));
  EndOpening();
  open_ = true;
  if (handlers_.on_open) handlers_.on_open();
  if (!closed()) StartReading();
}

void ClientLink::EndOpening() {
  loop_.Cancel(timer_);
  if (opening_) opening_->dial->Cancel();
  opening_.reset();
}

void ClientLink::OnFrame(std::string frame) {
  if (!silent_ && handlers_.on_frame) handlers_.on_frame(std::move(frame));
}

void ClientLink::OnClosed(Error why) {
  if (!silent_ && handlers_.on_closed) handlers_.on_closed(std::move(why));
}

void ClientLink::GiveUp(Error why) {
  if (closed()) return;
  auto self = Self();
  Cut();
  EndOpening();
  OnClosed(std::move(why));
}

void ClientLink::Abandon() {
  silent_ = true;
  if (closed()) return;
  auto self = Self();
  if (open_) socket().EndSending();
  Cut();
  EndOpening();
}

class Handle final : public LinkClient {
 public:
  explicit Handle(std::shared_ptr<ClientLink> link) : link_(std::move(link)) {}
  ~Handle() override { link_->Abandon(); }
  void Send(std::string frame) override {
    if (link_->open()) link_->Queue(std::move(frame));
  }
  std::size_t Unsent() const override { return link_->Queued(); }

 private:
  std::shared_ptr<ClientLink> link_;  // shared with what is in flight
};

}  // namespace

std::unique_ptr<LinkClient> LinkClient::Connect(EventLoop& loop, Endpoint endpoint,
                                                const TlsIdentity& identity, std::string path,
                                                Duration timeout, Handlers handlers) {
  auto link =
      std::make_shared<ClientLink>(loop, std::move(endpoint), std::move(path), std::move(handlers));
  link->Start(identity, timeout);
  return std::make_unique<Handle>(std::move(link));
}

}  // namespace muster::net
