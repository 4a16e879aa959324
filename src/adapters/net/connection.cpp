#include "adapters/net/connection.hpp"

#include <algorithm>
#include <poll.h>
#include <sys/socket.h>

#include "adapters/net/http_text.hpp"
#include "adapters/net/link.hpp"
#include "adapters/net/would_block.hpp"

namespace muster::net {
namespace {

// What a client may send ahead while it waits for an answer.
constexpr std::size_t kMaxAhead = 16 * 1024;
constexpr std::chrono::seconds kLinger(2);
constexpr char kTlsHandshakeByte = 0x16;

std::string_view CodeOf(int refused_with) {
  return refused_with == 403 || refused_with == 421 ? "denied" : "invalid";
}

// A client that gave up while it waited for its place costs no handshake.
bool HasEnded(int fd) {
  pollfd entry{fd, POLLRDHUP, 0};
  return poll(&entry, 1, 0) > 0;
}

}  // namespace

Connection::Connection(std::shared_ptr<ServerCore> core, Socket socket, std::string remote)
    : Tracked(std::move(core)), socket_(std::move(socket)), remote_(std::move(remote)) {}

void Connection::Start(const std::string& source) {
  Track(shared_from_this());
  core_->Came(*this, source);
  since_ = SteadyNow();
  SetDeadline(limits().header_timeout);
  AwaitFirstByte();
}

void Connection::AwaitFirstByte() {
  socket_.tcp().async_wait(TcpSocket::wait_read, [self = shared_from_this()](error_code error) {
    if (self->phase_ != Phase::kGreeting) return;
    if (error) return self->Drop();
    self->OnFirstByte();
  });
}

void Connection::OnFirstByte() {
  const ssize_t peeked = recv(socket_.fd(), &first_byte_, 1, MSG_PEEK | MSG_DONTWAIT);
  // Asio reuses the state of a closed socket while an event of that socket may still be queued, so
  // a new socket can be called readable before its first byte came.
  if (peeked < 0 && WouldBlock(errno)) return AwaitFirstByte();
  if (peeked != 1) return Drop();
  SetDeadline(limits().idle_timeout);
  core_->Spoke(*this);
}

void Connection::Enter() {
  since_ = SteadyNow();
  SetDeadline(limits().header_timeout);
  if (first_byte_ == kTlsHandshakeByte && core_->tls() != nullptr) {
    if (HasEnded(socket_.fd())) return Drop();
    socket_.UseTls(NewServerSsl(core_->tls(), socket_.fd()));
    phase_ = Phase::kHandshake;
    return Shake();
  }
  phase_ = Phase::kReading;
  if (!core_->plain_allowed()) return Refuse(400, "invalid", "use https:// on this port");
  Read();
}

void Connection::Shake() {
  shaking_ = true;
  step_ = core_->handshakes().Begin(
      core_->Source(remote_), socket_.ssl(),
      [self = shared_from_this()](const Attempt& attempt) { self->OnStep(attempt); });
}

void Connection::OnStep(const Attempt& attempt) {
  shaking_ = false;
  if (phase_ == Phase::kClosed) return socket_.Close();
  if (attempt.progress == Progress::kDone) return OnShaken();
  if (attempt.progress == Progress::kEnded || attempt.progress == Progress::kFailed) {
    core_->Refused(remote_, fmt::format("TLS handshake: {}", FailureText(attempt, socket_.ssl())));
    // OpenSSL has sent its alert; what the client still sends must not reset it away.
    socket_.UseTls(nullptr);
    return Linger();
  }
  auto direction =
      attempt.progress == Progress::kWantRead ? TcpSocket::wait_read : TcpSocket::wait_write;
  socket_.tcp().async_wait(direction, [self = shared_from_this()](error_code error) {
    if (self->phase_ != Phase::kHandshake) return;
    if (error) return self->Drop();
    self->Shake();
  });
}

void Connection::OnShaken() {
  peer_key_ = PeerKeyOf(socket_.ssl());
  peer_server_ = PeerServerOf(socket_.ssl());
  phase_ = Phase::kReading;
  Read();
}

void Connection::Read() {
  if (reading_) return;
  reading_ = true;
  const std::size_t size = ReadSize();
  if (landing_size_ != size) {
    landing_ = std::make_unique_for_overwrite<char[]>(size);
    landing_size_ = size;
  }
  auto buffer = asio::buffer(landing_.get(), size);
  socket_.async_read_some(buffer, [self = shared_from_this()](error_code error, std::size_t bytes) {
    self->reading_ = false;
    if (self->phase_ != Phase::kClosed) self->OnRead(error, bytes);
  });
}

void Connection::OnRead(error_code error, std::size_t bytes) {
  if (error) return OnGone();
  asio::buffer_copy(in_.prepare(bytes), asio::buffer(landing_.get(), bytes));
  in_.commit(bytes);
  switch (phase_) {
    case Phase::kReading:
      return Parse();
    case Phase::kAnswering:
      if (body_left_ > 0) return FillBody();
      if (in_.size() < kMaxAhead) Read();
      return;
    case Phase::kLingering:
      in_.clear();
      return Read();
    case Phase::kGreeting:
    case Phase::kHandshake:
    case Phase::kClosed:
      return;
  }
}

void Connection::Parse() {
  // A read that was in flight brings more of a body that is not permitted yet.
  if (judging_) return;
  if (!reader_) {
    reader_.emplace(limits(), core_->handlers().streams_body, true,
                    [this](const Request& head) { return CheckSource(head); });
    SetDeadline(limits().header_timeout);
  }
  switch (reader_->Feed(in_)) {
    case RequestReader::State::kHead:
      break;
    case RequestReader::State::kJudge:
      return JudgeBody();
    case RequestReader::State::kBody:
      OnBodyAwaited();
      break;
    case RequestReader::State::kDone:
      return OnRequest();
    case RequestReader::State::kStreams:
      return OnStreamedRequest();
    case RequestReader::State::kRefused:
      if (reader_->RefusedByCheck() && core_->handlers().on_foreign) return RefuseForeign();
      return Refuse(reader_->status(), CodeOf(reader_->status()), reader_->reason());
  }
  Read();
}

std::optional<SourceProblem> Connection::CheckSource(const Request& head) const {
  namespace http = beast::http;
  // Another server of the cluster has checked its caller by the name that it was called by itself.
  if (!peer_server_.empty()) return std::nullopt;
  RequestSource source{.tls = socket_.ssl() != nullptr, .link = IsLinkPath(head.target())};
  const auto collect = [&](http::field name, std::vector<std::string_view>& values) {
    const auto [first, last] = head.equal_range(name);
    for (auto field = first; field != last; ++field) values.push_back(field->value());
  };
  collect(http::field::host, source.hosts);
  collect(http::field::origin, source.origins);
  return net::CheckSource(source, core_->options().names);
}

void Connection::OnRequest() {
  bool keep_alive = reader_->KeepAlive() && !core_->stopping();
  Request request = reader_->Release();
  reader_.reset();
  in_body_ = false;
  ExchangeState::RequestTraits traits{.head_only = request.method() == beast::http::verb::head,
                                      .keep_alive = keep_alive,
                                      .chunking = request.version() >= 11,
                                      .max_unsent = limits().max_stream_unsent};
  nameless_ = true;
  if (!HasPlace()) {
    traits.keep_alive = false;
    return Answer(ErrorResponse(503, "unavailable", "too many connections; try again later"),
                  traits);
  }
  if (IsLinkPath(request.target())) return BecomeLink(request, traits);
  if (!Admit()) {
    HttpResponse response = ErrorResponse(
        429, "unavailable", "too many connections from this address; close some and try again");
    response.headers.emplace_back("Retry-After", "1");
    traits.keep_alive = false;
    return Answer(std::move(response), traits);
  }
  Serve(std::move(request), traits);
}

bool Connection::HasPlace() const {
  return state() == State::kNone || core_->HasPlace(!peer_key_.empty());
}

// One that is refused stays a newcomer until it closes: refused ones are as many as those at most.
bool Connection::Admit() {
  if (!admitted_) admitted_ = core_->Admit(core_->Source(remote_));
  if (admitted_) NoNewcomer();
  return admitted_;
}

void Connection::NoNewcomer() {
  if (state() != State::kNone) core_->Left(*this);
}

void Connection::Serve(Request request, ExchangeState::RequestTraits traits) {
  HttpRequest plain = Described(PlainRequest(std::move(request)));
  phase_ = Phase::kAnswering;
  deadline_ = kNever;
  exchange_ = std::make_shared<ExchangeState>(traits);
  exchange_->body_left = body_left_ > 0;
  if (room_) exchange_->Keep(std::exchange(room_, nullptr));
  auto exchange = std::make_shared<Exchange>(core_->loop(), weak_from_this(), exchange_);
  Read();
  const auto refuse = std::exchange(refuse_, nullptr);
  const auto& handle = refuse ? refuse : core_->handlers().on_http;
  // When the handler throws, the exchange goes unanswered, which answers 500.
  core_->Guard([&] { handle(std::move(plain), std::move(exchange)); });
}

HttpRequest Connection::Described(HttpRequest request) const {
  request.remote = remote_;
  request.tls = socket_.ssl() != nullptr;
  request.peer_key = peer_key_;
  request.peer_server = peer_server_;
  return request;
}

void Connection::BecomeLink(const Request& request, ExchangeState::RequestTraits traits) {
  if (peer_key_.empty()) {
    core_->Refused(remote_, "a link without a certificate");
    traits.keep_alive = false;
    return Answer(ErrorResponse(403, "denied", "a link needs TLS and a client certificate"),
                  traits);
  }
  // A body that is not read would be taken for the first frame.
  if (!beast::websocket::is_upgrade(request) || in_.size() > 0 || body_left_ > 0 || sending_) {
    traits.keep_alive = false;
    return Answer(ErrorResponse(400, "invalid", "only WebSocket links are served here"), traits);
  }
  auto core = core_;
  auto link = std::make_shared<Link>(core, std::move(socket_), std::move(peer_key_),
                                     std::move(peer_server_), remote_);
  Drop();
  if (!core->stopping()) link->Accept(request);
}

void Connection::Answer(HttpResponse response, ExchangeState::RequestTraits traits) {
  phase_ = Phase::kAnswering;
  exchange_ = std::make_shared<ExchangeState>(traits);
  exchange_->body_left = body_left_ > 0;
  exchange_->Respond(std::move(response));
  Read();
  Flush(*exchange_);
}

void Connection::Refuse(int status, std::string_view code, std::string_view message,
                        Headers headers) {
  HttpResponse response = ErrorResponse(status, code, message);
  for (auto& header : headers) response.headers.push_back(std::move(header));
  reader_.reset();
  judging_ = false;
  room_.reset();
  in_body_ = false;
  in_.clear();
  Answer(std::move(response), {.keep_alive = false});
}

void Connection::Flush(const ExchangeState& state) {
  if (!Answers(state) || phase_ != Phase::kAnswering) return;
  nameless_ = !exchange_->caller_is_known;
  AnswerPart out = exchange_->Take();
  if (out.broken) return Drop();
  if (out.behind) return OnGone();
  finished_ = finished_ || out.finished;
  Enqueue(std::move(out));
}

void Connection::Enqueue(AnswerPart out) {
  for (AnswerPiece& piece : out.pieces) {
    pending_ += piece.own.size();
    queued_.push_back(std::move(piece));
  }
  queued_streamed_ += out.streamed;
  if (!sending_) Send();
}

void Connection::Send() {
  if (queued_.empty()) {
    if (finished_) OnAnswered();
    return;
  }
  sending_ = true;
  in_flight_ = std::move(queued_);
  queued_.clear();
  in_flight_streamed_ = std::exchange(queued_streamed_, 0);
  std::vector<asio::const_buffer> buffers;
  buffers.reserve(in_flight_.size());
  std::size_t bytes = 0;
  for (const AnswerPiece& piece : in_flight_) {
    buffers.emplace_back(asio::buffer(piece.Text()));
    bytes += piece.Text().size();
  }
  if (phase_ == Phase::kAnswering) {
    SetDeadline(limits().write_timeout +
                std::chrono::seconds(bytes / std::max<std::size_t>(limits().least_rate, 1)));
  }
  asio::async_write(socket_, std::move(buffers),
                    [self = shared_from_this()](error_code error, std::size_t) {
                      self->sending_ = false;
                      if (self->phase_ != Phase::kClosed) self->OnSent(error);
                    });
}

void Connection::OnSent(error_code error) {
  if (error) return OnGone();
  for (const AnswerPiece& piece : in_flight_) pending_ -= piece.own.size();
  in_flight_.clear();
  if (exchange_) exchange_->unsent -= in_flight_streamed_;
  if (phase_ == Phase::kAnswering) deadline_ = kNever;
  if (exchange_ && exchange_->on_body) SetDeadline(limits().body_timeout);
  std::function<void()> room;
  if (exchange_ && exchange_->on_room && exchange_->unsent < exchange_->room_below)
    room = std::exchange(exchange_->on_room, nullptr);
  Send();
  if (room) core_->Guard(room);
}

void Connection::OnAnswered() {
  finished_ = false;
  auto done = std::move(exchange_);
  done->Forget();
  // What is left of a body would be taken for the next request.
  if (std::exchange(body_left_, 0) > 0) return Linger();
  if (!done->keep_alive() || core_->stopping()) return Linger();
  if (in_.size() == 0) in_ = beast::flat_buffer();
  phase_ = Phase::kReading;
  SetDeadline(limits().idle_timeout);
  if (in_.size() > 0) return Parse();
  Read();
}

// Closing while the client still sends would reset the connection, and the answer with it.
void Connection::Linger() {
  phase_ = Phase::kLingering;
  SetDeadline(kLinger);
  socket_.EndSending();
  in_.clear();
  Read();
}

void Connection::OnGone() {
  auto exchange = exchange_;
  Drop();
  if (!exchange) return;
  if (auto gone = std::exchange(exchange->on_gone, nullptr)) core_->Guard(gone);
}

void Connection::Drop() {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  // Held to the end: what it lets go of may be its own last owner.
  const auto exchange = std::move(exchange_);
  if (exchange) {
    exchange->gone = true;
    exchange->on_room = nullptr;
    exchange->on_body = nullptr;
  }
  // A step that is at work on the descriptor closes it when it is done.
  if (!shaking_ || core_->handshakes().Withdraw(step_)) socket_.Close();
  judging_ = false;
  room_.reset();
  refuse_ = nullptr;
  auto self = shared_from_this();
  NoNewcomer();
  if (std::exchange(admitted_, false)) core_->Release(core_->Source(remote_));
  Forget();
}

std::size_t Connection::UnreadAnswer() const {
  return std::max(pending_, exchange_ ? exchange_->unsent.load() : 0);
}

std::size_t Connection::UnreadOfNameless() {
  return nameless_ && phase_ != Phase::kClosed ? pending_ + socket_.Unread() : 0;
}

// The kernel would go on to keep what it has of it.
void Connection::CutAnswer() {
  socket_.Abort();
  OnGone();
}

void Connection::Drain() {
  if (phase_ == Phase::kAnswering || reader_) return;
  if (phase_ == Phase::kReading) return Linger();
  Drop();
}

void Connection::Sweep(MonoTime now) {
  const bool crowded_out =
      core_->newcomers().HurriesUp(*this) && now >= since_ + limits().crowded_timeout;
  if (now < deadline_ && !crowded_out) return;
  if (phase_ == Phase::kReading && reader_ && !crowded_out) {
    return Refuse(408, "invalid", "the request did not come in time");
  }
  if (phase_ == Phase::kAnswering) return CutAnswer();
  OnGone();
}

void Connection::SetDeadline(Duration timeout) { deadline_ = SteadyNow() + timeout; }

}  // namespace muster::net
