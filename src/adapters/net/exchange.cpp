#include "adapters/net/exchange.hpp"

#include "adapters/net/connection.hpp"
#include "adapters/net/http_text.hpp"

namespace muster::net {

bool ExchangeState::Respond(HttpResponse response) {
  base::Lock lock(mutex_);
  if (phase_ != Phase::kOpen) return false;
  phase_ = Phase::kFinished;
  // These two have no body by definition.
  bool bodiless = response.status == 204 || response.status == 304;
  const auto& shared = response.shared_body;
  ResponseShape shape{bodiless ? Framing::kNone : Framing::kLength,
                      shared ? shared->size() : response.body.size(),
                      traits_.keep_alive && !body_left};
  head_ = ResponseHead(response.status, response.headers, shape);
  if (bodiless || traits_.head_only) return Wake();
  if (shared)
    shared_body_ = std::move(response.shared_body);
  else
    body_ = std::move(response.body);
  return Wake();
}

bool ExchangeState::BeginStream(int status, const Headers& headers) {
  base::Lock lock(mutex_);
  if (phase_ != Phase::kOpen) return false;
  phase_ = Phase::kStreaming;
  chunked_ = traits_.chunking && !traits_.head_only;
  ResponseShape shape{traits_.chunking ? Framing::kChunked : Framing::kUntilClose, 0,
                      traits_.keep_alive && traits_.chunking};
  head_ = ResponseHead(status, headers, shape);
  return Wake();
}

bool ExchangeState::BeginSized(int status, const Headers& headers, std::uint64_t length) {
  base::Lock lock(mutex_);
  if (phase_ != Phase::kOpen) return false;
  phase_ = Phase::kStreaming;
  sized_ = true;
  left_ = traits_.head_only ? 0 : length;
  head_ =
      ResponseHead(status, headers, {Framing::kLength, length, traits_.keep_alive && !body_left});
  return Wake();
}

bool ExchangeState::Write(std::string data) {
  if (data.empty() || gone || traits_.head_only) return false;
  base::Lock lock(mutex_);
  if (phase_ != Phase::kStreaming) return false;
  if (sized_) {
    if (data.size() > left_) data.resize(left_);
    left_ -= data.size();
  }
  if (unsent + data.size() > traits_.max_unsent) {
    phase_ = Phase::kBehind;
    body_ = {};
    return Wake();
  }
  unsent += data.size();
  if (body_.empty()) {
    body_ = std::move(data);
  } else {
    body_ += data;
  }
  return Wake();
}

bool ExchangeState::End() {
  base::Lock lock(mutex_);
  if (phase_ != Phase::kStreaming) return false;
  phase_ = left_ > 0 ? Phase::kBroken : Phase::kFinished;
  return Wake();
}

bool ExchangeState::Abandon() {
  base::Lock lock(mutex_);
  if (phase_ != Phase::kStreaming) return false;
  phase_ = Phase::kBroken;
  return Wake();
}

void ExchangeState::Keep(std::shared_ptr<void> held) {
  base::Lock lock(mutex_);
  kept_.push_back(std::move(held));
}

AnswerPart ExchangeState::Take() {
  base::Lock lock(mutex_);
  woken_ = false;
  AnswerPart out;
  out.finished = phase_ == Phase::kFinished;
  out.broken = phase_ == Phase::kBroken;
  out.behind = phase_ == Phase::kBehind;
  if (!head_.empty()) out.pieces.emplace_back(std::exchange(head_, {}));
  if (shared_body_) out.pieces.emplace_back(std::exchange(shared_body_, nullptr));
  if (!body_.empty()) {
    if (chunked_) out.pieces.emplace_back(fmt::format("{:x}\r\n", body_.size()));
    out.streamed = std::min<std::size_t>(body_.size(), unsent);
    out.pieces.emplace_back(std::exchange(body_, {}));
    if (chunked_) out.pieces.emplace_back(std::string("\r\n"));
  }
  if (chunked_ && out.finished && !std::exchange(closed_, true)) {
    out.pieces.emplace_back(std::string("0\r\n\r\n"));
  }
  return out;
}

Exchange::Exchange(std::shared_ptr<LoopHandle> loop, std::weak_ptr<Connection> connection,
                   std::shared_ptr<ExchangeState> state)
    : loop_(std::move(loop)), connection_(std::move(connection)), state_(std::move(state)) {}

Exchange::~Exchange() {
  // Only one of the two has an effect, and neither when the answer is complete.
  WakeIf(state_->Respond(ErrorResponse(500, "internal", "the request was not answered")));
  WakeIf(state_->Abandon());
}

void Exchange::Respond(HttpResponse response) { WakeIf(state_->Respond(std::move(response))); }

void Exchange::BeginStream(int status, Headers headers) {
  WakeIf(state_->BeginStream(status, headers));
}

void Exchange::Write(std::string data) { WakeIf(state_->Write(std::move(data))); }

void Exchange::End() { WakeIf(state_->End()); }

void Exchange::OnGone(std::function<void()> gone) {
  loop_->Post([state = state_, connection = connection_, gone = std::move(gone)]() mutable {
    if (state->gone) return gone();
    auto found = connection.lock();
    if (found && found->Answers(*state)) state->on_gone = std::move(gone);
  });
}

void Exchange::BeginSized(int status, Headers headers, std::uint64_t length) {
  WakeIf(state_->BeginSized(status, headers, length));
}

void Exchange::OnRoom(std::size_t below, std::function<void()> room) {
  loop_->Post([state = state_, connection = connection_, below, room = std::move(room)]() mutable {
    auto found = connection.lock();
    if (!found || !found->Answers(*state)) return;
    if (state->unsent < below) return room();
    state->room_below = below;
    state->on_room = std::move(room);
  });
}

void Exchange::ReadBody(std::function<void(BodyPiece)> taken) {
  loop_->Post([state = state_, connection = connection_, taken = std::move(taken)]() mutable {
    auto found = connection.lock();
    if (!found || !found->Answers(*state)) return;
    state->on_body = std::move(taken);
    found->WantBody();
  });
}

void Exchange::WakeIf(bool needed) {
  if (!needed) return;
  loop_->Post([state = state_, connection = connection_] {
    if (auto found = connection.lock()) found->Flush(*state);
  });
}

}  // namespace muster::net
