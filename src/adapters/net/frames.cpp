#include "adapters/net/frames.hpp"

#include <algorithm>

namespace muster::net {
namespace {

namespace websocket = beast::websocket;

constexpr std::size_t kLeastRead = 1024;
constexpr std::size_t kMostRead = 256 * 1024;
constexpr std::size_t kSentPlaces = 1024;

std::string WhyClosed(error_code error, const Socket& socket) {
  if (error == websocket::error::closed || error == asio::error::eof) {
    return "the peer closed the link";
  }
  if (socket.tls_reason() != nullptr) return socket.tls_reason();
  return error.message();
}

}  // namespace

Frames::Frames(Socket socket, std::size_t max_frame) : websocket_(std::move(socket)) {
  websocket_.binary(true);
  websocket_.auto_fragment(false);
  websocket_.read_message_max(max_frame);
}

void Frames::Queue(std::string frame) {
  if (closed_ || closing_) return;
  unsent_ += SizeOf(frame);
  if (sending_) {
    queue_.push_back(std::move(frame));
    return;
  }
  in_flight_ = std::move(frame);
  Send();
}

void Frames::Send() {
  sending_ = true;
  websocket_.async_write(
      asio::buffer(in_flight_),
      [self = shared_from_this()](error_code error, std::size_t) { self->OnSent(error); });
}

void Frames::OnSent(error_code error) {
  sending_ = false;
  if (closed_) return;
  if (error) return Break(error);
  unsent_ -= SizeOf(in_flight_);
  if (queue_head_ < queue_.size()) {
    in_flight_ = std::move(queue_[queue_head_++]);
    DropSent();
    return Send();
  }
  queue_ = {};
  queue_head_ = 0;
  in_flight_ = {};
  if (closing_) SendClose();
}

// A peer that reads slowly keeps the queue from ever being empty, so the places of frames that were
// sent are given back meanwhile; seldom enough to cost nothing.
void Frames::DropSent() {
  if (queue_head_ < kSentPlaces || queue_head_ * 2 < queue_.size()) return;
  queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(queue_head_));
  queue_head_ = 0;
}

void Frames::Read() {
  asio::mutable_buffer buffer = asio::buffer(short_frame_);
  if (long_size_ > 0) {
    std::size_t hint = std::clamp(websocket_.read_size_hint(kLeastRead), kLeastRead, kMostRead);
    long_frame_.resize(long_size_ + hint);
    buffer = asio::buffer(long_frame_.data() + long_size_, hint);
  }
  websocket_.async_read_some(buffer,
                             [self = shared_from_this()](error_code error, std::size_t bytes) {
                               if (!self->closed_) self->OnRead(error, bytes);
                             });
}

void Frames::OnRead(error_code error, std::size_t bytes) {
  if (error) return Break(error);
  if (closing_) {  // only the peer's close is awaited: what else it sends takes no memory
    long_size_ = 0;
    long_frame_ = {};
    return Read();
  }
  if (long_size_ == 0 && websocket_.is_message_done()) {
    OnFrame(std::string(short_frame_.data(), bytes));
  } else {
    if (long_size_ == 0) long_frame_.assign(short_frame_.data(), bytes);
    long_size_ += bytes;
    if (websocket_.is_message_done()) {
      long_frame_.resize(std::exchange(long_size_, 0));
      OnFrame(std::exchange(long_frame_, {}));
    }
  }
  if (!closed_) Read();
}

void Frames::CloseAfterSent() {
  if (closed_ || closing_) return;
  closing_ = true;
  if (!sending_) SendClose();
}

void Frames::SendClose() {
  websocket_.async_close(websocket::close_code::normal,
                         [self = shared_from_this()](error_code error) {
                           if (!self->closed_) self->Break(error);
                         });
}

void Frames::Break(error_code error) {
  if (closed_) return;
  std::string why = closing_ ? "closed" : WhyClosed(error, socket());
  Cut();
  OnClosed({ErrorCode::kUnavailable, std::move(why)});
}

void Frames::Cut() {
  closed_ = true;
  unsent_ = 0;
  queue_ = {};
  queue_head_ = 0;
  socket().Close();
}

}  // namespace muster::net
