#include "adapters/net/link.hpp"

namespace muster::net {
namespace {

// Another server passes on what nodes say, and adds to it.
constexpr std::size_t kMostOfServer = 64 << 20;

}  // namespace

Link::Link(std::shared_ptr<ServerCore> core, Socket socket, std::string peer_key,
           std::string peer_server, std::string remote)
    : Frames(std::move(socket),
             peer_server.empty() ? core->options().limits.max_frame : kMostOfServer),
      Tracked(core),
      id_(core->NextLinkId()),
      peer_key_(std::move(peer_key)),
      peer_server_(std::move(peer_server)),
      remote_(std::move(remote)) {}

void Link::Begin() {
  Track(Self());
  deadline_ = SteadyNow() + core_->options().limits.header_timeout;
}

void Link::OnAccepted(error_code error) {
  if (closed()) return;
  if (error) return Break(error);
  announced_ = true;
  deadline_ = SteadyNow() + core_->options().limits.link_silence;
  auto self = Self();
  bool kept = core_->Guard([&] { core_->handlers().on_link(self); });
  if (!kept) Break(asio::error::operation_aborted);
  if (!closed()) StartReading();
}

void Link::OnFrame(std::string frame) {
  bool handled = core_->Guard([&] { core_->handlers().on_frame(*this, std::move(frame)); });
  if (!handled) Break(asio::error::operation_aborted);
}

void Link::OnClosed(Error) {
  auto self = Self();
  auto core = core_;
  Forget();
  if (announced_) core->Guard([&] { core->handlers().on_link_closed(*this); });
}

void Link::Send(std::string frame) {
  if (behind_) return;
  if (Queued() + SizeOf(frame) <= core_->options().limits.max_link_unsent) {
    return Queue(std::move(frame));
  }
  behind_ = true;
  core_->Warn(fmt::format("link of {} cut: {} bytes wait and it does not read", remote_, Queued()));
  // Not at once: the caller may be in the middle of a round over its links.
  asio::post(socket().get_executor(),
             [self = Self()] { self->Break(asio::error::no_buffer_space); });
}

void Link::Close() {
  if (closed() || closing()) return;
  // The peer has this long to answer the close.
  deadline_ = SteadyNow() + core_->options().limits.header_timeout;
  CloseAfterSent();
}

void Link::Sweep(MonoTime now) {
  std::uint64_t seen = socket().bytes_in();
  if (seen != seen_ && announced_ && !closing())
    deadline_ = now + core_->options().limits.link_silence;
  seen_ = seen;
  if (now >= deadline_) Break(asio::error::timed_out);
}

void Link::Drop() {
  if (closed()) return;
  auto self = Self();
  Cut();
  Forget();
}

}  // namespace muster::net
