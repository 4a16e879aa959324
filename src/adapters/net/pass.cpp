#include "adapters/net/pass.hpp"

#include <algorithm>
#include <charconv>

#include "adapters/net/endpoint.hpp"
#include "adapters/net/http_text.hpp"
#include "adapters/net/server_core.hpp"

namespace muster::net {
namespace {

// An answer that is not longer goes to the client when it is whole: should the rest of it not come,
// there is still an error to be told.
constexpr std::uint64_t kMostWhole = 64 * 1024;
// What may wait for a slow client.
constexpr std::size_t kMostUnsent = 256 * 1024;

std::uint64_t LengthOf(const Headers& headers) {
  const std::string_view text = FindHeader(headers, "Content-Length");
  std::uint64_t length = 0;
  std::from_chars(text.data(), text.data() + text.size(), length);
  return length;
}

}  // namespace

Pass::Pass(Host& host, HttpRequest request, std::shared_ptr<HttpExchange> exchange)
    : host_(host),
      request_(std::move(request)),
      exchange_(std::move(exchange)),
      head_only_(request_.method == "HEAD") {
  // A body that is announced and did not come along is still with the exchange.
  if (request_.body.empty()) body_length_ = LengthOf(request_.headers);
  streamed_ = body_length_ > 0;
}

void Pass::Start() {
  exchange_->OnGone([loop = host_.loop(), weak = weak_from_this()] {
    loop->Post([weak] {
      if (auto self = weak.lock()) self->OnGone();
    });
  });
  Watch();
}

void Pass::Watch() {
  SetDeadline(host_.options().connect);
  host_.Want(shared_from_this());
}

void Pass::Use(std::shared_ptr<Upstream> upstream) {
  upstream_ = std::move(upstream);
  upstream_->Begin(*this, head_only_);
  was_sent_ = true;
  SetDeadline(host_.options().silence);
  const std::string host = AuthorityOf(host_.options().to);
  if (streamed_) {
    upstream_->Send(RequestText(request_, host, body_length_));
  } else {
    body_sent_ = true;
    upstream_->Send(RequestText(request_, host));
    if (!MayRepeat()) request_.body = {};
  }
  upstream_->Read();
}

void Pass::OnSent(bool ok) {
  // A server that refuses early answers before it has read everything; that answer is still to
  // come.
  if (!ok || body_sent_) return;
  AskBody();
}

void Pass::AskBody() {
  if (!exchange_) return;
  deadline_ = kNever;  // it is the client's turn, and its server has limits of its own
  exchange_->ReadBody([loop = host_.loop(), weak = weak_from_this()](BodyPiece piece) {
    loop->Post([weak, piece = std::move(piece)]() mutable {
      if (auto self = weak.lock()) self->OnPiece(std::move(piece));
    });
  });
}

void Pass::OnPiece(BodyPiece piece) {
  if (!exchange_ || !upstream_) return;
  SetDeadline(host_.options().silence);
  body_sent_ = piece.last;
  if (!piece.data.empty()) return upstream_->Send(std::move(piece.data));
  if (!body_sent_) AskBody();
}

void Pass::OnAnswer(AnswerReader::State state) {
  if (exchange_->Gone()) return OnGone();
  switch (state) {
    case AnswerReader::State::kRefused:
      return OnRefused();
    case AnswerReader::State::kHead:
      return upstream_->Read();
    case AnswerReader::State::kBody:
    case AnswerReader::State::kDone:
      break;
  }
  if (way_ == Way::kNone) BeginAnswer(upstream_->answer().head());
  const bool last = state == AnswerReader::State::kDone;
  Relay(upstream_->answer().TakeBody(), last);
  if (last) return Leave(body_sent_);
  if (exchange_->Unsent() >= kMostUnsent) return AwaitRoom();
  SetDeadline(host_.options().silence);
  upstream_->Read();
}

void Pass::BeginAnswer(const AnswerReader::Head& head) {
  const bool bodiless = head.framing == Framing::kNone;
  const bool sized = head.framing == Framing::kLength;
  if (bodiless || (sized && !head_only_ && head.length <= kMostWhole)) {
    way_ = Way::kWhole;
    whole_ = {head.status, head.headers, {}};
    return;
  }
  way_ = Way::kStreamed;
  if (sized) return exchange_->BeginSized(head.status, head.headers, head.length);
  exchange_->BeginStream(head.status, head.headers);
}

void Pass::Relay(std::string body, bool last) {
  if (way_ == Way::kWhole) {
    whole_.body += body;
    if (last) exchange_->Respond(std::move(whole_));
    return;
  }
  exchange_->Write(std::move(body));
  if (last) exchange_->End();
}

void Pass::AwaitRoom() {
  deadline_ = kNever;
  exchange_->OnRoom(kMostUnsent / 2, [loop = host_.loop(), weak = weak_from_this()] {
    loop->Post([weak] {
      auto self = weak.lock();
      if (!self || !self->upstream_) return;
      self->SetDeadline(self->host_.options().silence);
      self->upstream_->Read();
    });
  });
}

bool Pass::MayRepeat() const {
  if (fresh() || !upstream_->used()) return false;
  constexpr std::string_view kHarmless[] = {"GET", "HEAD", "OPTIONS", "PUT", "DELETE"};
  return std::ranges::find(kHarmless, request_.method) != std::end(kHarmless) ||
         !FindHeader(request_.headers, "Idempotency-Key").empty();
}

void Pass::OnRefused() {
  const AnswerReader& answer = upstream_->answer();
  if (answer.cut() && !answer.heard() && MayRepeat()) {
    repeated_ = true;
    host_.Drop(std::exchange(upstream_, nullptr));
    return Watch();
  }
  if (answer.cut()) return Lose(answer.reason());
  const auto& options = host_.options();
  Fail(502, "timeout",
       fmt::format("{} ({}) did not answer properly: {}; look whether the request was carried out "
                   "before you try again",
                   options.name, UrlOf(options.to), answer.reason()));
}

void Pass::Unreachable(std::string_view why) {
  const auto& options = host_.options();
  if (was_sent_) return Lose(why);
  Fail(503, "unavailable",
       fmt::format("{} ({}) cannot be reached: {}; try again", options.name, UrlOf(options.to),
                   why));
}

void Pass::Lose(std::string_view why) {
  const auto& options = host_.options();
  if (!was_sent_) return Unreachable(why);
  Fail(504, "timeout",
       fmt::format("{} ({}) was lost before it answered: {}; the request may have been carried "
                   "out, so look before you try again",
                   options.name, UrlOf(options.to), why));
}

void Pass::Fail(int status, std::string_view code, std::string_view message) {
  if (exchange_ && way_ != Way::kStreamed) {
    HttpResponse response = ErrorResponse(status, code, message);
    if (status == 503) response.headers.emplace_back("Retry-After", "1");
    exchange_->Respond(std::move(response));
  }
  // Letting go of an answer that was begun closes the client's connection.
  Leave(false);
}

void Pass::OnGone() {
  if (exchange_) Leave(false);
}

void Pass::Leave(bool reusable) {
  deadline_ = kNever;
  const auto self = shared_from_this();
  exchange_.reset();
  host_.Release(*this, std::exchange(upstream_, nullptr), reusable);
}

void Pass::SetDeadline(Duration timeout) { deadline_ = SteadyNow() + timeout; }

}  // namespace muster::net
