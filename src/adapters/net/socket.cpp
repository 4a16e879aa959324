#include "adapters/net/socket.hpp"

#include <algorithm>
#include <cstring>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <fmt/format.h>

#include "adapters/net/would_block.hpp"

namespace muster::net {
namespace {

// One TLS record: pieces that fit together go out as one.
constexpr std::size_t kRecord = 16 * 1024;

Attempt SendPieces(int fd, std::span<const asio::const_buffer> pieces) {
  iovec parts[8];
  std::size_t count = 0;
  for (const asio::const_buffer& piece : pieces) {
    parts[count++] = {const_cast<void*>(piece.data()), piece.size()};
  }
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = count;
  return SocketAttempt(sendmsg(fd, &message, MSG_NOSIGNAL));
}

Attempt SendTls(SSL* ssl, std::span<const asio::const_buffer> pieces) {
  if (pieces.size() == 1 || pieces.front().size() >= kRecord) {
    return TryWrite(ssl, pieces.front().data(), pieces.front().size());
  }
  // The same pieces give the same bytes when OpenSSL wants the write repeated.
  thread_local char joined[kRecord];
  std::size_t size = 0;
  for (const asio::const_buffer& piece : pieces) {
    std::size_t part = std::min(piece.size(), kRecord - size);
    std::memcpy(joined + size, piece.data(), part);
    size += part;
  }
  return TryWrite(ssl, joined, size);
}

}  // namespace

Socket::Socket(TcpSocket tcp) : tcp_(std::move(tcp)) {
  error_code ignored;
  tcp_.non_blocking(true, ignored);
  tcp_.set_option(Tcp::no_delay(true), ignored);
}

Socket::Outcome Socket::Judge(const Attempt& attempt, asio::socket_base::wait_type direction) {
  switch (attempt.progress) {
    case Progress::kDone:
      return {{}, attempt.bytes};
    case Progress::kWantRead:
      return {{}, 0, true, asio::socket_base::wait_read};
    case Progress::kWantWrite:
      return {{}, 0, true, asio::socket_base::wait_write};
    case Progress::kEnded:
      return {asio::error::eof, 0};
    case Progress::kFailed:
      break;
  }
  if (WouldBlock(attempt.system_error)) return {{}, 0, true, direction};
  if (attempt.system_error != 0) {
    return {error_code(attempt.system_error, boost::system::system_category()), 0};
  }
  tls_reason_ = attempt.reason;
  return {make_error_code(boost::system::errc::protocol_error), 0};
}

Socket::Outcome Socket::Read(asio::mutable_buffer buffer) {
  if (!tcp_.is_open()) return {asio::error::operation_aborted, 0};
  if (buffer.size() == 0) return {};
  Attempt attempt = ssl_ ? TryRead(ssl_.get(), buffer.data(), buffer.size())
                         : SocketAttempt(recv(fd(), buffer.data(), buffer.size(), 0));
  bytes_in_ += attempt.bytes;
  return Judge(attempt, asio::socket_base::wait_read);
}

Socket::Outcome Socket::Write(std::span<const asio::const_buffer> pieces) {
  if (!tcp_.is_open()) return {asio::error::operation_aborted, 0};
  if (pieces.empty()) return {};
  Attempt attempt = ssl_ ? SendTls(ssl_.get(), pieces) : SendPieces(fd(), pieces);
  bytes_out_ += attempt.bytes;
  return Judge(attempt, asio::socket_base::wait_write);
}

void Socket::EndSending() noexcept {
  if (!tcp_.is_open()) return;
  if (ssl_) SSL_shutdown(ssl_.get());
  error_code ignored;
  tcp_.shutdown(TcpSocket::shutdown_send, ignored);
}

void Socket::Abort() noexcept {
  error_code ignored;
  if (tcp_.is_open()) tcp_.set_option(asio::socket_base::linger(true, 0), ignored);
}

std::size_t Socket::Unread() {
  int bytes = 0;
  if (!tcp_.is_open() || ioctl(fd(), SIOCOUTQ, &bytes) != 0) return 0;
  return static_cast<std::size_t>(std::max(bytes, 0));
}

void Socket::Close() noexcept {
  error_code ignored;
  tcp_.close(ignored);
}

void beast_close_socket(Socket& socket) { socket.Close(); }

void teardown(beast::role_type, Socket& socket, error_code& error) {
  socket.EndSending();
  error = {};
}

std::string RemoteOf(const TcpSocket& socket) {
  error_code error;
  Tcp::endpoint remote = socket.remote_endpoint(error);
  if (error) return "?";
  std::string address = remote.address().to_string();
  return remote.address().is_v6() ? fmt::format("[{}]:{}", address, remote.port())
                                  : fmt::format("{}:{}", address, remote.port());
}

}  // namespace muster::net
