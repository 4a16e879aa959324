#include "adapters/net/client.hpp"
#include "adapters/net/endpoint.hpp"
#include "adapters/net/event_loop_impl.hpp"
#include "adapters/net/frames.hpp"

namespace muster::net {
namespace {

namespace websocket = beast::websocket;

// A frame longer than any the server sends.
constexpr std::size_t kMaxFrame = 64 << 20;

Result<std::shared_ptr<ClientContext>> ContextFor(EventLoop& loop, const TlsIdentity& identity) {
  auto& cache = loop.impl().client_contexts;
  std::string key = identity.ca_fingerprint + "\n" + identity.ca_pem;
  if (auto found = cache.find(key); found != cache.end()) return found->second;
  auto made = ClientContext::Make(identity.ca_pem, identity.ca_fingerprint);
  if (made) cache.emplace(std::move(key), *made);
  return made;
}

// The connection itself; kept alive by the handle and by what is in flight.
class ClientLink final : public Frames {
 public:
  ClientLink(EventLoop& loop, Endpoint endpoint, std::string path, LinkClient::Handlers handlers)
      : Frames(Socket(TcpSocket(loop.impl().context)), kMaxFrame),
        loop_(loop),
        endpoint_(std::move(endpoint)),
        path_(std::move(path)),
        handlers_(std::move(handlers)) {}

  void Start(const TlsIdentity& identity, Duration timeout);
  void Abandon();
  bool open() const { return open_; }

 private:
  // What is only needed until the link is open.
  struct Opening {
    explicit Opening(Executor executor) : resolver(executor) {}
    asio::ip::basic_resolver<Tcp, Executor> resolver;
    TlsIdentity identity;
    websocket::response_type response;
  };

  std::shared_ptr<ClientLink> Self() {
    return std::static_pointer_cast<ClientLink>(shared_from_this());
  }
  template <typename Addresses>
  void ConnectTo(const Addresses& addresses);
  void OnConnected();
  void Shake();
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

void ClientLink::Start(const TlsIdentity& identity, Duration timeout) {
  opening_ = std::make_unique<Opening>(loop_.impl().context.get_executor());
  opening_->identity = identity;
  timer_ = loop_.After(timeout, [self = Self()] {
    self->GiveUp(ConnectError(self->endpoint_, "no answer in time"));
  });
  error_code not_literal;
  auto address = asio::ip::make_address(endpoint_.host, not_literal);
  if (!not_literal) {
    Tcp::endpoint target(address, static_cast<std::uint16_t>(std::stoi(endpoint_.port)));
    return ConnectTo(std::array{target});
  }
  opening_->resolver.async_resolve(
      endpoint_.host, endpoint_.port, [self = Self()](error_code error, auto found) {
        if (self->closed()) return;
        if (error) {
          return self->GiveUp({ErrorCode::kUnavailable,
                               fmt::format("cannot find host \"{}\": {}; check the address",
                                           self->endpoint_.host, error.message())});
        }
        self->ConnectTo(found);
      });
}

template <typename Addresses>
void ClientLink::ConnectTo(const Addresses& addresses) {
  asio::async_connect(socket().tcp(), addresses, [self = Self()](error_code error, const auto&) {
    if (self->closed()) return;
    if (error) return self->GiveUp(ConnectError(self->endpoint_, error.message()));
    self->OnConnected();
  });
}

void ClientLink::OnConnected() {
  // The options of a socket are lost when it is opened anew.
  socket() = Socket(std::move(socket().tcp()));
  if (!endpoint_.tls) return Upgrade();
  auto context = ContextFor(loop_, opening_->identity);
  if (!context) return GiveUp(context.error());
  auto ssl = NewClientSsl(**context, opening_->identity, endpoint_.host, socket().fd());
  if (!ssl) return GiveUp(ssl.error());
  socket().UseTls(std::move(*ssl));
  Shake();
}

void ClientLink::Shake() {
  Attempt attempt = TryHandshake(socket().ssl());
  if (attempt.progress == Progress::kDone) return Upgrade();
  if (attempt.progress == Progress::kEnded || attempt.progress == Progress::kFailed) {
    return GiveUp(HandshakeError(endpoint_, attempt, socket().ssl()));
  }
  auto direction =
      attempt.progress == Progress::kWantRead ? TcpSocket::wait_read : TcpSocket::wait_write;
  socket().tcp().async_wait(direction, [self = Self()](error_code error) {
    if (self->closed()) return;
    if (error) return self->GiveUp(ConnectError(self->endpoint_, error.message()));
    self->Shake();
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
