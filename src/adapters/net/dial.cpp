#include "adapters/net/dial.hpp"

#include "adapters/net/endpoint.hpp"

namespace muster::net {
namespace {

Result<std::shared_ptr<ClientContext>> ContextFor(EventLoop& loop, const TlsIdentity& identity) {
  auto& cache = loop.impl().client_contexts;
  std::string key = identity.ca_fingerprint + "\n" + identity.ca_pem;
  if (auto found = cache.find(key); found != cache.end()) return found->second;
  auto made = ClientContext::Make(identity.ca_pem, identity.ca_fingerprint);
  if (made) cache.emplace(std::move(key), *made);
  return made;
}

}  // namespace

std::shared_ptr<Dial> Dial::Start(EventLoop& loop, Endpoint endpoint, TlsIdentity identity,
                                  Done done) {
  auto dial =
      std::make_shared<Dial>(loop, std::move(endpoint), std::move(identity), std::move(done));
  dial->Resolve();
  return dial;
}

Dial::Dial(EventLoop& loop, Endpoint endpoint, TlsIdentity identity, Done done)
    : loop_(loop),
      endpoint_(std::move(endpoint)),
      identity_(std::move(identity)),
      done_(std::move(done)),
      resolver_(loop.impl().context.get_executor()),
      socket_(TcpSocket(loop.impl().context)) {}

void Dial::Cancel() {
  const auto self = shared_from_this();  // what is let go of may hold the last reference
  done_ = nullptr;
  resolver_.cancel();
  socket_.Close();
}

void Dial::Resolve() {
  if (!endpoint_.tls && identity_.NeedsTls())
    return loop_.Post([self = shared_from_this()] {
      if (!self->over()) self->Finish(Fail(PlainError(self->endpoint_)));
    });
  error_code not_literal;
  auto address = asio::ip::make_address(endpoint_.host, not_literal);
  if (!not_literal) {
    Tcp::endpoint target(address, static_cast<std::uint16_t>(std::stoi(endpoint_.port)));
    return ConnectTo(std::array{target});
  }
  resolver_.async_resolve(
      endpoint_.host, endpoint_.port, [self = shared_from_this()](error_code error, auto found) {
        if (self->over()) return;
        if (!error) return self->ConnectTo(found);
        self->Finish(Fail(ErrorCode::kUnavailable, "cannot find host \"{}\": {}; check the address",
                          self->endpoint_.host, error.message()));
      });
}

template <typename Addresses>
void Dial::ConnectTo(const Addresses& addresses) {
  asio::async_connect(socket_.tcp(), addresses,
                      [self = shared_from_this()](error_code error, const auto&) {
                        if (self->over()) return;
                        if (error)
                          return self->Finish(Fail(ConnectError(self->endpoint_, error.message())));
                        self->OnConnected();
                      });
}

void Dial::OnConnected() {
  // The options of a socket are lost when it is opened anew.
  socket_ = Socket(std::move(socket_.tcp()));
  if (!endpoint_.tls) return Finish(std::move(socket_));
  auto context = ContextFor(loop_, identity_);
  if (!context) return Finish(Fail(context.error()));
  auto ssl = NewClientSsl(**context, identity_, endpoint_.host, socket_.fd());
  if (!ssl) return Finish(Fail(ssl.error()));
  socket_.UseTls(std::move(*ssl));
  Shake();
}

void Dial::Shake() {
  Attempt attempt = TryHandshake(socket_.ssl());
  if (attempt.progress == Progress::kDone) {
    if (auto member = CheckMember(socket_.ssl(), identity_); !member)
      return Finish(Fail(member.error()));
    return Finish(std::move(socket_));
  }
  if (attempt.progress == Progress::kEnded || attempt.progress == Progress::kFailed) {
    return Finish(Fail(HandshakeError(endpoint_, attempt, socket_.ssl())));
  }
  auto direction =
      attempt.progress == Progress::kWantRead ? TcpSocket::wait_read : TcpSocket::wait_write;
  socket_.tcp().async_wait(direction, [self = shared_from_this()](error_code error) {
    if (self->over()) return;
    if (error) return self->Finish(Fail(ConnectError(self->endpoint_, error.message())));
    self->Shake();
  });
}

void Dial::Finish(Result<Socket> outcome) {
  const auto self = shared_from_this();
  const auto done = std::exchange(done_, nullptr);
  done(std::move(outcome));
}

}  // namespace muster::net
