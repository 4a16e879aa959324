#include "adapters/net/blocking_stream.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adapters/net/endpoint.hpp"
#include "adapters/net/would_block.hpp"

namespace muster::net {
namespace {

using Clock = std::chrono::steady_clock;
using AddressesPtr = std::unique_ptr<addrinfo, crypto::Deleter<freeaddrinfo>>;

Result<AddressesPtr> Resolve(const Endpoint& endpoint) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  int failure = getaddrinfo(endpoint.host.c_str(), endpoint.port.c_str(), &hints, &found);
  if (failure != 0) {
    return Fail(ErrorCode::kUnavailable, "cannot find host \"{}\": {}; check the address",
                endpoint.host, gai_strerror(failure));
  }
  return AddressesPtr(found);
}

// Waits until `fd` is ready for `events`; false when the deadline or the abort came first.
bool WaitFor(int fd, short events, Clock::time_point deadline, const AbortSignal& abort) {
  for (;;) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd entries[] = {{fd, events, 0}, {abort.fd(), POLLIN, 0}};
    int ready = poll(entries, 2, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (ready > 0) return entries[1].revents == 0;
    if (ready == 0 && left <= 0) return false;
  }
}

// 0 when connected, otherwise errno.
int ConnectTo(int fd, const addrinfo& address, Clock::time_point deadline,
              const AbortSignal& abort) {
  if (connect(fd, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!WaitFor(fd, POLLOUT, deadline, abort)) return ETIMEDOUT;
  int failure = 0;
  socklen_t size = sizeof(failure);
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size);
  return failure;
}

std::string LowerFirst(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(text[0]));
  return text;
}

bool MustWait(const Attempt& attempt, short& events) {
  switch (attempt.progress) {
    case Progress::kWantRead:
      events = POLLIN;
      return true;
    case Progress::kWantWrite:
      events = POLLOUT;
      return true;
    case Progress::kFailed:
      return WouldBlock(attempt.system_error);
    case Progress::kDone:
    case Progress::kEnded:
      return false;
  }
  return false;
}

// Repeats `attempt` until it is done, ended or failed; nothing when the deadline came first.
template <typename Try>
std::optional<Attempt> Repeat(int fd, short events, Duration timeout, const AbortSignal& abort,
                              Try try_once) {
  auto deadline = Clock::now() + timeout;
  for (;;) {
    Attempt attempt = try_once();
    if (!MustWait(attempt, events)) return attempt;
    if (!WaitFor(fd, events, deadline, abort)) return std::nullopt;
  }
}

}  // namespace

BlockingStream::~BlockingStream() {
  if (fd_ < 0) return;
  if (ssl_) SSL_shutdown(ssl_.get());
  close(fd_);
}

BlockingStream::BlockingStream(BlockingStream&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      abort_(other.abort_),
      program_(std::move(other.program_)),
      ssl_(std::move(other.ssl_)) {}

BlockingStream& BlockingStream::operator=(BlockingStream&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(abort_, other.abort_);
  std::swap(program_, other.program_);
  std::swap(ssl_, other.ssl_);
  return *this;
}

Result<BlockingStream> BlockingStream::Open(const Endpoint& endpoint, const ClientContext* context,
                                            const TlsIdentity& identity, Duration timeout,
                                            const AbortSignal& abort) {
  if (!endpoint.tls && identity.NeedsTls()) return Fail(PlainError(endpoint));
  auto addresses = Resolve(endpoint);
  if (!addresses) return Fail(addresses.error());
  auto deadline = Clock::now() + timeout;
  int failure = 0;
  for (addrinfo* at = addresses->get(); at != nullptr; at = at->ai_next) {
    BlockingStream stream(socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
                          endpoint.program, abort);
    if (stream.fd_ < 0) {
      failure = errno;
      continue;
    }
    failure = ConnectTo(stream.fd_, *at, deadline, abort);
    if (failure != 0) continue;
    int on = 1;
    setsockopt(stream.fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (context == nullptr) return stream;
    auto ssl = NewClientSsl(*context, identity, endpoint.host, stream.fd_);
    if (!ssl) return Fail(ssl.error());
    stream.ssl_ = std::move(*ssl);
    if (auto shaken = stream.Shake(endpoint, timeout); !shaken) return Fail(shaken.error());
    if (auto member = CheckMember(stream.ssl(), identity); !member) return Fail(member.error());
    return stream;
  }
  return Fail(ConnectError(endpoint, LowerFirst(std::strerror(failure))));
}

Result<> BlockingStream::Shake(const Endpoint& endpoint, Duration timeout) {
  auto attempt = Repeat(fd_, POLLIN, timeout, *abort_, [this] { return TryHandshake(ssl_.get()); });
  if (!attempt) return Fail(ConnectError(endpoint, "no answer to the TLS handshake"));
  if (attempt->progress == Progress::kDone) return {};
  return Fail(HandshakeError(endpoint, *attempt, ssl_.get()));
}

Error BlockingStream::Broken(const Attempt& attempt) const {
  std::string why = FailureText(attempt, ssl_.get());
  bool refused = attempt.reason != nullptr &&
                 std::string_view(attempt.reason).find("alert") != std::string_view::npos;
  if (refused) {
    auto advice = program_ == "musterd" ? "join this cluster again" : "give one that it trusts";
    return {ErrorCode::kDenied,
            fmt::format("the server refused our certificate: {}; {}", why, advice)};
  }
  return {ErrorCode::kTimeout, fmt::format("the connection broke: {}", why)};
}

Result<> BlockingStream::Write(std::string_view data, Duration timeout) {
  while (!data.empty()) {
    auto attempt = Repeat(fd_, POLLOUT, timeout, *abort_, [&] {
      return ssl_ ? TryWrite(ssl_.get(), data.data(), data.size())
                  : SocketAttempt(send(fd_, data.data(), data.size(), MSG_NOSIGNAL));
    });
    if (!attempt) return Fail(ErrorCode::kTimeout, "the server takes no data");
    if (attempt->progress != Progress::kDone) return Fail(Broken(*attempt));
    data.remove_prefix(attempt->bytes);
  }
  return {};
}

Result<std::size_t> BlockingStream::Read(char* data, std::size_t size, Duration timeout) {
  auto attempt = Repeat(fd_, POLLIN, timeout, *abort_, [&] {
    return ssl_ ? TryRead(ssl_.get(), data, size) : SocketAttempt(recv(fd_, data, size, 0));
  });
  if (!attempt) return Fail(ErrorCode::kTimeout, "no answer");
  if (attempt->progress == Progress::kEnded) return 0;
  if (attempt->progress != Progress::kDone) return Fail(Broken(*attempt));
  return attempt->bytes;
}

bool BlockingStream::Quiet() const {
  pollfd entry{fd_, POLLIN, 0};
  return poll(&entry, 1, 0) == 0 && (!ssl_ || SSL_has_pending(ssl_.get()) == 0);
}

}  // namespace muster::net
