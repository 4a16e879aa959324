// Bodies of requests: whether one is read, how it comes in, and how it is handed over in pieces.
#include <algorithm>

#include "adapters/net/connection.hpp"

namespace muster::net {
namespace {

constexpr std::size_t kReadSize = 4 * 1024;
constexpr std::size_t kBodyReadSize = 64 * 1024;
constexpr std::size_t kBodyPiece = 256 * 1024;

}  // namespace

bool Connection::IsLinkPath(std::string_view target) const {
  return target.substr(0, target.find('?')) == core_->options().link_path;
}

// Large reads only for a body that is being taken: a request that is refused, or promises a byte
// and never sends it, costs no more than its head.
std::size_t Connection::ReadSize() const {
  if (in_body_ && reader_)
    return std::clamp<std::uint64_t>(reader_->BodyLength(), kReadSize, kBodyReadSize);
  return exchange_ && exchange_->on_body ? kBodyReadSize : kReadSize;
}

// A caller that is refused for any request is not asked for its body.
void Connection::JudgeBody() {
  HttpRequest head = Described(reader_->Head());
  if (!HasPlace() || IsLinkPath(head.target) || !Admit()) return WithholdBody();
  const auto& judge = core_->handlers().judge_body;
  if (!judge) return OnVerdict({.known_caller = true});
  judging_ = true;
  const bool asked = core_->Guard([&] {
    judge(head, [weak = weak_from_this()](BodyVerdict verdict) {
      const auto self = weak.lock();
      // Meanwhile its time may have run out.
      if (self && self->judging_) self->OnVerdict(std::move(verdict));
    });
  });
  if (!asked && judging_) Refuse(500, "internal", "the request could not be judged");
}

void Connection::OnVerdict(BodyVerdict verdict) {
  judging_ = false;
  if (verdict.refuse) {
    refuse_ = std::move(verdict.refuse);
    return WithholdBody();
  }
  const std::size_t most = verdict.known_caller
                               ? limits().max_body
                               : std::min(limits().max_body, limits().max_open_body);
  if (!reader_->Permit(most)) return Refuse(reader_->status(), "invalid", reader_->reason());
  // What a read lands in and what it is parsed from count too.
  const auto length = static_cast<std::size_t>(reader_->BodyLength());
  room_ = core_->bodies().Take(length + 2 * std::min(length, kBodyReadSize), verdict.known_caller);
  if (!room_)
    return Refuse(503, "unavailable", "too many requests are being read; try again shortly",
                  {{"Retry-After", "1"}});
  Parse();
}

void Connection::WithholdBody() {
  body_left_ = std::max<std::uint64_t>(reader_->BodyLength(), 1);
  OnRequest();
}

void Connection::RefuseForeign() {
  refuse_ = [core = core_, problem = SourceProblem{reader_->status(), reader_->reason()}](
                HttpRequest head, std::shared_ptr<HttpExchange> exchange) {
    core->handlers().on_foreign(std::move(head), std::move(exchange), problem);
  };
  Request head = reader_->Release();
  const bool head_only = head.method() == beast::http::verb::head;
  reader_.reset();
  in_body_ = false;
  in_.clear();
  Serve(std::move(head), {.head_only = head_only, .keep_alive = false});
}

void Connection::OnBodyAwaited() {
  if (!std::exchange(in_body_, true)) SetDeadline(limits().body_timeout);
  if (reader_->WantsContinue()) SayContinue();
}

void Connection::SayContinue() {
  AnswerPart out;
  out.pieces.emplace_back(std::string("HTTP/1.1 100 Continue\r\n\r\n"));
  Enqueue(std::move(out));
}

void Connection::OnStreamedRequest() {
  body_left_ = reader_->BodyLength();
  continue_ = reader_->WantsContinue();
  OnRequest();
}

void Connection::WantBody() {
  if (body_left_ > 0) SetDeadline(limits().body_timeout);
  if (std::exchange(continue_, false)) SayContinue();
  FillBody();
}

// Reads only for a piece that the handler waits for.
void Connection::FillBody() {
  if (!exchange_ || !exchange_->on_body) return;
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(body_left_, kBodyPiece));
  if (in_.size() < size) return Read();
  body_left_ -= size;
  BodyPiece piece{std::string(static_cast<const char*>(in_.data().data()), size), body_left_ == 0};
  in_.consume(size);
  exchange_->body_left = body_left_ > 0;
  deadline_ = kNever;
  const auto taken = std::exchange(exchange_->on_body, nullptr);
  if (piece.last) Read();  // from now on only to notice that the client leaves
  core_->Guard([&] { taken(std::move(piece)); });
}

}  // namespace muster::net
