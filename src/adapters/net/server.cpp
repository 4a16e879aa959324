#include "adapters/net/server.hpp"

#include <algorithm>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <utility>
#include <vector>

#include "adapters/net/connection.hpp"
#include "adapters/net/server_core.hpp"

namespace muster::net {
namespace {

using std::chrono::milliseconds;

// Room for newcomers while all connections are taken, so that they are still told so.
constexpr std::size_t kOverflow = 64;
// Files that the rest of the program needs.
constexpr std::size_t kOtherFiles = 1'000;
constexpr std::chrono::minutes kWarnOfCrowd(1);
// An answer that waits with so much is not cut for others' sake.
constexpr std::size_t kNeverCut = 2 << 20;
// Out of descriptors: accepting again at once would spin.
constexpr milliseconds kAcceptPause(100);
// Bytes of an answer that the kernel takes beyond those on their way. It asks for more at the half
// of it, so no line is slower for it. Without a bound it takes megabytes for a client that does not
// read.
constexpr int kMostInKernel = 128 << 10;

milliseconds SweepPeriod(const ServerOptions& options) {
  const ServerLimits& limits = options.limits;
  Duration shortest = std::min({limits.header_timeout, limits.crowded_timeout, limits.body_timeout,
                                limits.idle_timeout, limits.write_timeout, limits.link_silence});
  return std::clamp(shortest / 4, milliseconds(5), milliseconds(1000));
}

// Strangers' connections must not take the last file of the process.
std::size_t MaxConnections(const ServerLimits& limits) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return limits.max_connections;
  const auto all = static_cast<std::size_t>(files.rlim_cur);
  return std::min(limits.max_connections, all - std::min(kOtherFiles, all / 2));
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
      acceptor_(loop.impl().context),
      max_connections_(MaxConnections(options_.limits)),
      newcomers_(options_.limits.max_handshakes),
      handshakes_(loop.impl().handle) {}

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
  if (!error) Take(std::move(socket));
  if (!error || error == asio::error::connection_aborted) return Accept();
  Warn(fmt::format("cannot accept connections: {}; pausing for {} ms", error.message(),
                   kAcceptPause.count()));
  accept_timer_ = loop_.After(kAcceptPause, [self = shared_from_this()] {
    if (self->acceptor_.is_open()) self->Accept();
  });
}

// The accepting never stops for newcomers: the kernel's queue is one for all addresses, and whoever
// fills it would lock out the others.
void ServerCore::Take(TcpSocket socket) {
  std::string remote = RemoteOf(socket);
  const std::string source = Source(remote);
  if (count_ >= max_connections_ + kOverflow) {
    Newcomer* other = newcomers_.ToGiveWay(source);
    if (other == nullptr) return;  // the socket just closes
    other->GiveWay();
  }
  // Without it (kernels before 3.12) only the memory that slow readers cost is larger.
  setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kMostInKernel,
             sizeof kMostInKernel);
  std::make_shared<Connection>(shared_from_this(), Socket(std::move(socket)), std::move(remote))
      ->Start(source);
}

void ServerCore::Spoke(Newcomer& newcomer) {
  newcomers_.Spoke(newcomer);
  LetIn();
}

void ServerCore::Left(Newcomer& newcomer) {
  newcomers_.Left(newcomer);
  LetInSoon();
}

// One at a time: other connections have their turn in between.
void ServerCore::LetIn() {
  Newcomer* next = newcomers_.Next();
  if (next == nullptr) return;
  next->Enter();
  LetInSoon();
}

void ServerCore::LetInSoon() {
  if (newcomers_.waiting() == 0 || std::exchange(letting_in_, true)) return;
  loop_.Post([self = shared_from_this()] {
    self->letting_in_ = false;
    self->LetIn();
  });
}

bool ServerCore::HasPlace(bool has_certificate) const {
  const std::size_t reserved = has_certificate ? 0 : max_connections_ / 10;
  return count_ - newcomers_.size() < max_connections_ - reserved;
}

void ServerCore::WarnOfCrowd() {
  if (newcomers_.size() <= options_.limits.max_handshakes) return;
  if (SteadyNow() < next_crowd_warning_) return;
  next_crowd_warning_ = SteadyNow() + kWarnOfCrowd;
  const auto [source, count] = newcomers_.Largest();
  Warn(fmt::format("{} connections have not sent a request yet, {} of them from {}",
                   newcomers_.size(), count, source));
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
  WarnOfCrowd();
  ForEach([now](Tracked& connection) { connection.Sweep(now); });
  CutSlowReaders();
  CutNameless();
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

// Nobody is known by their name here, so there is no other bound on what all of them keep waiting.
// The size of a single answer says nothing: many small ones fill the memory as well.
void ServerCore::CutNameless() {
  struct Reader {
    std::size_t unread;
    std::size_t place;  // by age
    Tracked* connection;
    std::shared_ptr<void> alive;  // its own reference: the end of another may be its end too
  };
  const std::size_t bound = options_.limits.max_open_unsent;
  std::vector<Reader> readers;
  std::size_t unread = 0;
  for (Tracked& connection : tracked_) {
    const std::size_t own = connection.UnreadOfNameless();
    if (own == 0) continue;
    unread += own;
    readers.push_back({own, readers.size(), &connection, connection.self_});
  }
  if (unread <= bound) return;
  Warn(
      fmt::format("{} bytes of answers wait for readers without a name; cutting the largest, "
                  "past limits.max_open_unsent",
                  unread));
  // Of equals the one that is here for longest.
  std::ranges::sort(readers, [](const Reader& a, const Reader& b) {
    return a.unread != b.unread ? a.unread > b.unread : a.place < b.place;
  });
  for (const Reader& reader : readers) {
    if (unread <= bound / 4 * 3) return;
    unread -= reader.unread;
    reader.connection->CutAnswer();
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
  handshakes_.Stop();
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
