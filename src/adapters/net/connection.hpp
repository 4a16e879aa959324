#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/net/body_budget.hpp"
#include "adapters/net/exchange.hpp"
#include "adapters/net/request_reader.hpp"
#include "adapters/net/server_core.hpp"
#include "adapters/net/socket.hpp"

namespace muster::net {

// A client's connection from its first byte: tells TLS from plain, then answers one HTTP request
// after the other, until it closes or becomes a link.
//
//   greeting -> handshake -> reading <-> answering -> lingering -> closed
//
// In a step of its handshake the socket and its SSL belong to another thread (handshakes.hpp).
// It is a newcomer until its first request is admitted, and waits in `greeting` for its place.
// One read is always in flight while the connection is open, also while an answer is awaited: that
// is how a client that went away is noticed.
class Connection final : public Tracked,
                         public Newcomer,
                         public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<ServerCore> core, Socket socket, std::string remote);

  void Start(const std::string& source);

  // For exchanges, on the loop's thread.
  bool Answers(const ExchangeState& state) const { return exchange_.get() == &state; }
  void Flush(const ExchangeState& state);
  void WantBody();  // for the exchange's on_body

  void Sweep(MonoTime now) override;
  void Drain() override;
  void Drop() override;
  std::size_t UnreadAnswer() const override;
  std::size_t UnreadOfNameless() override;
  void CutAnswer() override;
  void Enter() override;
  void GiveWay() override { Drop(); }

 private:
  enum class Phase { kGreeting, kHandshake, kReading, kAnswering, kLingering, kClosed };
  using Request = RequestReader::Request;

  void AwaitFirstByte();
  void OnFirstByte();
  void Shake();
  void OnStep(const Attempt& attempt);
  void OnShaken();

  bool IsLinkPath(std::string_view target) const;
  std::optional<SourceProblem> CheckSource(const Request& head) const;
  std::size_t ReadSize() const;
  void Read();
  void OnRead(error_code error, std::size_t bytes);
  void Parse();
  void JudgeBody();
  void OnVerdict(BodyVerdict verdict);
  void WithholdBody();
  void OnBodyAwaited();
  void OnStreamedRequest();
  void FillBody();
  void SayContinue();
  void OnRequest();
  bool HasPlace() const;
  bool Admit();
  void NoNewcomer();
  void Serve(Request request, ExchangeState::RequestTraits traits);
  void BecomeLink(const Request& request, ExchangeState::RequestTraits traits);
  HttpRequest Described(HttpRequest request) const;
  void RefuseForeign();
  void Refuse(int status, std::string_view code, std::string_view message, Headers headers = {});
  void Answer(HttpResponse response, ExchangeState::RequestTraits traits);

  void Enqueue(AnswerPart out);
  void Send();
  void OnSent(error_code error);
  void OnAnswered();
  void Linger();
  void OnGone();

  void SetDeadline(Duration timeout);
  const ServerLimits& limits() const { return core_->options().limits; }

  Socket socket_;
  Phase phase_ = Phase::kGreeting;
  char first_byte_ = 0;
  bool shaking_ = false;  // the handshakes' thread has the socket
  Handshakes::StepRef step_;
  bool reading_ = false;
  bool sending_ = false;
  bool finished_ = false;        // the answer is complete once what is queued went out
  bool nameless_ = true;         // no token or certificate for this answer was good
  bool admitted_ = false;        // counted for its address
  bool judging_ = false;         // whether the body is read is being decided
  bool in_body_ = false;         // the deadline is that of the body
  bool continue_ = false;        // say "100 Continue" once the streamed body is wanted
  std::uint64_t body_left_ = 0;  // of a streamed or refused body, what was not handed over
  BodyBudget::Room room_;        // of a body until its exchange has it; shared with the budget
  std::function<void(HttpRequest, std::shared_ptr<HttpExchange>)> refuse_;  // in place of on_http
  MonoTime since_;  // it came, or got its place
  MonoTime deadline_ = kNever;
  const std::string remote_;
  std::string peer_key_;
  std::string peer_server_;
  beast::flat_buffer in_;
  // Where the read in flight lands: not in `in_`, which is worked off meanwhile.
  std::unique_ptr<char[]> landing_;
  std::size_t landing_size_ = 0;
  std::optional<RequestReader> reader_;
  std::vector<AnswerPiece> queued_;
  std::vector<AnswerPiece> in_flight_;
  std::size_t pending_ = 0;  // bytes of both, but for what is shared
  std::size_t queued_streamed_ = 0;
  std::size_t in_flight_streamed_ = 0;
  std::shared_ptr<ExchangeState> exchange_;  // shared with the Exchange the program holds
};

}  // namespace muster::net
