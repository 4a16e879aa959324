#include "adapters/net/upstream.hpp"

#include <cstring>

namespace muster::net {
namespace {

constexpr std::size_t kMaxHead = 64 * 1024;

}  // namespace

void Upstream::Begin(User& user, bool head_only) {
  used_ = answer_.has_value();
  answer_.emplace(head_only, kMaxHead);
  lost_ = nullptr;
  user_ = &user;
}

void Upstream::Read() {
  if (reading_ || closed_) return;
  reading_ = true;
  socket_.async_read_some(asio::buffer(landing_),
                          [self = shared_from_this()](error_code error, std::size_t bytes) {
                            self->reading_ = false;
                            if (!self->closed_) self->OnRead(error, bytes);
                          });
}

void Upstream::OnRead(error_code error, std::size_t bytes) {
  if (user_ == nullptr) {
    // It was closed, or says something that nobody asked for.
    const auto lost = std::exchange(lost_, nullptr);
    Close();
    return lost(*this);
  }
  if (error) return user_->OnAnswer(answer_->Finish());
  std::memcpy(in_.prepare(bytes).data(), landing_, bytes);
  in_.commit(bytes);
  user_->OnAnswer(answer_->Feed(in_));
}

void Upstream::Send(std::string bytes) {
  if (closed_) return;
  sending_ = true;
  out_ = std::move(bytes);
  asio::async_write(socket_, asio::buffer(out_),
                    [self = shared_from_this()](error_code error, std::size_t) {
                      self->sending_ = false;
                      self->out_ = {};
                      if (!self->closed_ && self->user_ != nullptr) self->user_->OnSent(!error);
                    });
}

bool Upstream::Park(bool reusable, MonoTime now, std::function<void(Upstream&)> lost) {
  user_ = nullptr;
  if (!reusable || sending_ || closed_ || in_.size() > 0 || !answer_->KeepAlive()) {
    Close();
    return false;
  }
  in_ = beast::flat_buffer();
  parked_ = now;
  lost_ = std::move(lost);
  Read();
  return true;
}

void Upstream::Close() {
  user_ = nullptr;
  lost_ = nullptr;
  if (std::exchange(closed_, true)) return;
  socket_.EndSending();
  socket_.Close();
}

}  // namespace muster::net
