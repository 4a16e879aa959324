#include "adapters/net/server.hpp"

#include <algorithm>
#include <utility>

#include "adapters/net/connection.hpp"
#include "adapters/net/server_core.hpp"

namespace muster::net {
namespace {

using std::chrono::milliseconds;

// Connections over the limit that are still told so; beyond them the door is simply shut.
constexpr std::size_t kOverflow = 64;
constexpr std::chrono::minutes kWarnOfCrowd(1);
// An answer that waits with so much is not cut for others' sake.
constexpr std::size_t kNeverCut = 2 << 20;
// Out of descriptors: accepting again at once would spin.
constexpr milliseconds kAcceptPause(100);

milliseconds SweepPeriod(const ServerOptions& options) {
  const ServerLimits& limits = options.limits;
  Duration shortest = std::min({limits.header_timeout, limits.crowded_timeout, limits.body_timeout,
                                limits.idle_timeout, limits.write_timeout, limits.link_silence});
  return std::clamp(shortest / 4, milliseconds(5), milliseconds(1000));
}

class ServerImpl final : public Server {
 public:
  explicit ServerImpl(std::shared_ptr<ServerCore> core) : core_(std::move(core)) {}
  ~ServerImpl() override { core_->Shutdown(); }

  std::uint16_t Port() const override { return core_->port(); }
  std::size_t Connections() const override { return core_->connections(); }
  Result<> UseTls(const ServerTls& tls) override { return core_->UseTls(tls); }
  void StopAccepting() override { core_->StopAccepting(); }

 private:
  std::shared_ptr<ServerCore> core_;  // shared with its connections
};

}  // namespace

MonoTime SteadyNow() noexcept {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<milliseconds>(now).count()};
}

void Tracked::Track(std::shared_ptr<void> self) {
  self_ = std::move(self);
  core_->Add(*this);
}

void Tracked::Forget() {
  if (!is_linked()) return;
  core_->Remove(*this);
  self_.reset();
}

ServerCore::ServerCore(EventLoop& loop, ServerOptions options, ServerHandlers handlers)
    : loop_(loop),
      options_(std::move(options)),
      handlers_(std::move(handlers)),
      bodies_(std::make_shared<BodyBudget>(options_.limits.max_buffered)),
      acceptor_(loop.impl().context) {}

Result<> ServerCore::UseTls(const ServerTls& tls) {
  auto shown = MakeServerContext(tls.key_pem, tls.chain_pem, tls.client_ca_pem);
  if (!shown) return Fail(shown.error());
  if (!tls.cluster_chain_pem.empty()) {
    auto cluster = MakeServerContext(tls.cluster_key_pem, tls.cluster_chain_pem, tls.client_ca_pem);
    if (!cluster) return Fail(cluster.error());
    ShowToCluster(shown->get(), std::move(*cluster));
  }
  tls_ = std::move(*shown);  // open connections hold the old one
  return {};
}

Result<> ServerCore::Listen() {
  error_code error;
  auto address = asio::ip::make_address(options_.address, error);
  if (error) {
    return Fail(ErrorCode::kInvalid, "cannot listen on \"{}\": not an IP address",
                options_.address);
  }
  plain_allowed_ = options_.plain_http && address.is_loopback();
  if (!options_.tls.chain_pem.empty()) {
    if (auto used = UseTls(options_.tls); !used) return used;
  } else if (!plain_allowed_) {
    return Fail(ErrorCode::kInvalid,
                "cannot listen on {} without a certificate: plain HTTP is "
                "for loopback addresses only",
                options_.address);
  }
  Tcp::endpoint endpoint(address, options_.port);
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(Acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    return Fail(ErrorCode::kUnavailable, "cannot listen on {} port {}: {}", options_.address,
                options_.port, error.message());
  }
  port_ = acceptor_.local_endpoint().port();
  Accept();
  ScheduleSweep();
  return {};
}

void ServerCore::Accept() {
  acceptor_.async_accept([self = shared_from_this()](error_code error, auto socket) {
    self->OnAccepted(error, TcpSocket(std::move(socket)));
  });
}

void ServerCore::OnAccepted(error_code error, TcpSocket socket) {
  if (!acceptor_.is_open()) return;
  if (!error) {
    // Above the overflow the socket just closes.
    if (count_ < options_.limits.max_connections + kOverflow) {
      bool over_limit = count_ >= options_.limits.max_connections;
      std::make_shared<Connection>(shared_from_this(), Socket(std::move(socket)), over_limit)
          ->Start();
    }
    return AcceptNext();
  }
  if (error == asio::error::connection_aborted) return AcceptNext();
  Warn(fmt::format("cannot accept connections: {}; pausing for {} ms", error.message(),
                   kAcceptPause.count()));
  accept_timer_ = loop_.After(kAcceptPause, [self = shared_from_this()] {
    if (self->acceptor_.is_open()) self->Accept();
  });
}

// A flood of handshakes waits in the kernel's queue, which is bounded, instead of here.
void ServerCore::AcceptNext() {
  if (newcomers_ < options_.limits.max_handshakes) return Accept();
  paused_ = true;
  if (SteadyNow() < next_crowd_warning_) return;
  next_crowd_warning_ = SteadyNow() + kWarnOfCrowd;
  Warn(fmt::format("{} connections have not sent a request yet; accepting no more until one does",
                   newcomers_));
}

void ServerCore::NewcomerLeft() {
  --newcomers_;
  if (std::exchange(paused_, false) && acceptor_.is_open()) Accept();
}

bool ServerCore::Admit(const std::string& source) {
  std::size_t& count = admitted_[source];
  if (count >= options_.limits.max_connections_per_address) return false;
  ++count;
  return true;
}

void ServerCore::Release(const std::string& source) {
  auto found = admitted_.find(source);
  if (found != admitted_.end() && --found->second == 0) admitted_.erase(found);
}

void ServerCore::ScheduleSweep() {
  sweep_timer_ =
      loop_.After(SweepPeriod(options_), [self = shared_from_this()] { self->SweepAll(); });
}

// The visited one may remove itself.
template <typename Visit>
void ServerCore::ForEach(Visit visit) {
  for (auto at = tracked_.begin(); at != tracked_.end();) {
    Tracked& connection = *at++;
    visit(connection);
  }
}

void ServerCore::SweepAll() {
  MonoTime now = SteadyNow();
  crowded_ = paused_;
  ForEach([now](Tracked& connection) { connection.Sweep(now); });
  CutSlowReaders();
  ScheduleSweep();
}

// Looks again after each that was cut: its end may be the end of others.
void ServerCore::CutSlowReaders() {
  std::size_t bound = options_.limits.max_unsent;
  while (true) {
    std::size_t unsent = 0;
    std::pair<std::size_t, Tracked*> largest{kNeverCut, nullptr};
    for (Tracked& connection : tracked_) {
      const std::size_t unread = connection.UnreadAnswer();
      unsent += unread;
      if (unread > largest.first) largest = {unread, &connection};
    }
    if (unsent <= bound || largest.second == nullptr) return;
    if (bound == options_.limits.max_unsent)
      Warn(fmt::format("{} bytes of answers wait for their readers; cutting the largest", unsent));
    bound = options_.limits.max_unsent / 4 * 3;
    largest.second->CutAnswer();
  }
}

void ServerCore::StopAccepting() {
  stopping_ = true;
  error_code ignored;
  acceptor_.close(ignored);
  loop_.Cancel(accept_timer_);
  ForEach([](Tracked& connection) { connection.Drain(); });
}

void ServerCore::Shutdown() {
  stopping_ = true;
  error_code ignored;
  acceptor_.close(ignored);
  loop_.Cancel(accept_timer_);
  loop_.Cancel(sweep_timer_);
  while (!tracked_.empty()) tracked_.front().Drop();
}

void ServerCore::Add(Tracked& connection) {
  tracked_.push_back(connection);
  ++count_;
}

void ServerCore::Remove(Tracked& connection) {
  tracked_.erase(tracked_.iterator_to(connection));
  --count_;
}

void ServerCore::Warn(std::string_view message) const {
  if (handlers_.on_warning) handlers_.on_warning(message);
}

void ServerCore::Refused(const std::string& remote, std::string_view why) const {
  if (handlers_.on_refused) return handlers_.on_refused(SourceOf(remote), why);
  Warn(fmt::format("{}: {}", remote, why));
}

Result<std::unique_ptr<Server>> Server::Listen(EventLoop& loop, ServerOptions options,
                                               ServerHandlers handlers) {
  auto core = std::make_shared<ServerCore>(loop, std::move(options), std::move(handlers));
  if (auto listening = core->Listen(); !listening) return Fail(listening.error());
  return std::make_unique<ServerImpl>(std::move(core));
}

}  // namespace muster::net
