#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "adapters/net/asio.hpp"
#include "adapters/net/tls.hpp"

namespace muster::net {

// A TCP connection, plain or TLS, as Asio and Beast want a stream; one type for both, so what runs
// over it is compiled once. OpenSSL works on the socket itself and readiness comes from Asio, so an
// idle connection holds no buffers. One read and one write may be in flight at a time, on the
// loop's thread. May be moved while neither is.
class Socket {
 public:
  using executor_type = Executor;

  explicit Socket(TcpSocket tcp);  // makes it non-blocking, without Nagle's delay

  executor_type get_executor() noexcept { return tcp_.get_executor(); }
  TcpSocket& tcp() noexcept { return tcp_; }
  int fd() { return tcp_.native_handle(); }

  void UseTls(SslPtr ssl) { ssl_ = std::move(ssl); }
  SSL* ssl() const noexcept { return ssl_.get(); }

  // Bytes of payload that came and went; whoever watches for silence compares them.
  std::uint64_t bytes_in() const noexcept { return bytes_in_; }
  std::uint64_t bytes_out() const noexcept { return bytes_out_; }

  // What TLS said when an operation failed with protocol_error; otherwise null. Static text.
  const char* tls_reason() const noexcept { return tls_reason_; }

  void EndSending() noexcept;  // tells the peer that no more comes
  void Abort() noexcept;       // what the peer has not read is dropped by the next Close
  std::size_t Unread();        // bytes that the kernel still has for the peer
  void Close() noexcept;       // what is in flight ends with operation_aborted

  template <typename Buffers, typename Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    ReadOp op{{this, {}, false}, FirstOf(buffers)};
    return asio::async_compose<Token, void(error_code, std::size_t)>(std::move(op), token, tcp_);
  }

  template <typename Buffers, typename Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    WriteOp op{{this, {}, false}, {}, 0};
    for (auto at = asio::buffer_sequence_begin(buffers);
         at != asio::buffer_sequence_end(buffers) && op.count < kMaxPieces; ++at) {
      asio::const_buffer piece(*at);
      if (piece.size() > 0) op.pieces[op.count++] = piece;
    }
    return asio::async_compose<Token, void(error_code, std::size_t)>(std::move(op), token, tcp_);
  }

 private:
  static constexpr std::size_t kMaxPieces = 4;  // a frame's header and payload are two

  template <typename Buffers>
  static asio::mutable_buffer FirstOf(const Buffers& buffers) {
    for (auto at = asio::buffer_sequence_begin(buffers); at != asio::buffer_sequence_end(buffers);
         ++at) {
      asio::mutable_buffer piece(*at);
      if (piece.size() > 0) return piece;
    }
    return {};
  }

  struct Outcome {
    error_code error;
    std::size_t bytes = 0;
    bool must_wait = false;
    asio::socket_base::wait_type wait = asio::socket_base::wait_read;
  };

  // Tries at once, then waits for readiness and tries again. The handler never runs inside the
  // initiating function, so an operation that is done at once is completed by a post.
  struct Op {
    Socket* socket;
    Outcome outcome;
    bool started;

    template <typename Self, typename Try>
    void Step(Self& self, error_code error, Try try_once) {
      bool first = !std::exchange(started, true);
      if (!first && !outcome.must_wait) return self.complete(outcome.error, outcome.bytes);
      if (error) {
        outcome = {error, 0};
      } else {
        outcome = try_once();
      }
      // `this` lives inside `self`, which is moved away below.
      Socket* s = socket;
      if (outcome.must_wait) {
        s->tcp_.async_wait(outcome.wait, std::move(self));
      } else if (first) {
        asio::post(s->get_executor(), std::move(self));
      } else {
        self.complete(outcome.error, outcome.bytes);
      }
    }
  };
  struct ReadOp : Op {
    asio::mutable_buffer buffer;
    template <typename Self>
    void operator()(Self& self, error_code error = {}) {
      Step(self, error, [this] { return socket->Read(buffer); });
    }
  };
  struct WriteOp : Op {
    std::array<asio::const_buffer, kMaxPieces> pieces;
    std::size_t count;
    template <typename Self>
    void operator()(Self& self, error_code error = {}) {
      Step(self, error, [this] { return socket->Write({pieces.data(), count}); });
    }
  };

  Outcome Read(asio::mutable_buffer buffer);
  Outcome Write(std::span<const asio::const_buffer> pieces);
  Outcome Judge(const Attempt& attempt, asio::socket_base::wait_type direction);

  TcpSocket tcp_;
  SslPtr ssl_;
  std::uint64_t bytes_in_ = 0;
  std::uint64_t bytes_out_ = 0;
  const char* tls_reason_ = nullptr;
};

// Beast finds these by argument when it ends a WebSocket.
void beast_close_socket(Socket& socket);
void teardown(beast::role_type role, Socket& socket, error_code& error);

template <typename Handler>
void async_teardown(beast::role_type, Socket& socket, Handler&& handler) {
  socket.EndSending();
  asio::post(socket.get_executor(),
             beast::bind_front_handler(std::forward<Handler>(handler), error_code()));
}

// "127.0.0.1:51514", "[::1]:51514"; "?" when the peer has gone already.
std::string RemoteOf(const TcpSocket& socket);

}  // namespace muster::net
