#pragma once

#include <memory>
#include <string>

#include "adapters/net/event_loop_impl.hpp"
#include "adapters/net/forward.hpp"
#include "adapters/net/upstream.hpp"

namespace muster::net {

// One request on its way to the other server, and its answer on the way back.
//
//   waiting -> sent -> answering -> over
//      ^---------'  once, for a connection that turned out to be closed
class Pass final : public Upstream::User, public std::enable_shared_from_this<Pass> {
 public:
  // What its forwarder does for it; outlives it.
  class Host {
   public:
    virtual const Forwarder::Options& options() const = 0;
    virtual std::shared_ptr<LoopHandle> loop() const = 0;
    virtual void Want(std::shared_ptr<Pass> pass) = 0;  // ends in Use or Unreachable
    // It is over; `upstream` may be none.
    virtual void Release(Pass& pass, std::shared_ptr<Upstream> upstream, bool reusable) = 0;
    virtual void Drop(std::shared_ptr<Upstream> upstream) = 0;  // it goes on with another

   protected:
    ~Host() = default;
  };

  Pass(Host& host, HttpRequest request, std::shared_ptr<HttpExchange> exchange);

  void Start();
  bool fresh() const { return streamed_ || repeated_; }  // wants a connection never used before
  void Use(std::shared_ptr<Upstream> upstream);
  void Unreachable(std::string_view why);
  void Lose(std::string_view why);
  bool Overdue(MonoTime now) const { return now >= deadline_; }
  bool sent() const { return upstream_ != nullptr; }

 private:
  void OnSent(bool ok) override;
  void OnAnswer(AnswerReader::State state) override;
  void OnGone();
  void OnPiece(BodyPiece piece);

  void Watch();
  void AskBody();
  void AwaitRoom();
  void BeginAnswer(const AnswerReader::Head& head);
  void Relay(std::string body, bool last);
  void OnRefused();
  bool MayRepeat() const;
  void Fail(int status, std::string_view code, std::string_view message);
  void Leave(bool reusable);
  void SetDeadline(Duration timeout);

  // How the answer goes to the client.
  enum class Way { kNone, kWhole, kStreamed };

  Host& host_;
  HttpRequest request_;
  std::shared_ptr<HttpExchange> exchange_;  // shared with the server it came through
  const bool head_only_;
  std::uint64_t body_length_ = 0;
  bool streamed_ = false;   // the body is read from the exchange
  bool body_sent_ = false;  // all of it was handed to the connection
  bool repeated_ = false;
  bool was_sent_ = false;
  Way way_ = Way::kNone;
  HttpResponse whole_;
  MonoTime deadline_ = kNever;
  std::shared_ptr<Upstream> upstream_;  // shared with what is in flight
};

}  // namespace muster::net
