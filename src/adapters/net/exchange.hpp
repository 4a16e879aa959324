#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adapters/net/event_loop_impl.hpp"
#include "adapters/net/server.hpp"
#include "base/mutex.hpp"

namespace muster::net {

class Connection;

// A text of an answer as it goes out: its own, or one that many answers share.
struct AnswerPiece {
  AnswerPiece(std::string text) : own(std::move(text)) {}
  AnswerPiece(std::shared_ptr<const std::string> text) : shared(std::move(text)) {}
  std::string_view Text() const { return shared ? *shared : own; }

  std::string own;  // what it costs
  std::shared_ptr<const std::string> shared;
};

// What the answering side wrote and the connection has not yet taken.
struct AnswerPart {
  std::vector<AnswerPiece> pieces;
  std::size_t streamed = 0;  // of these, bytes that count as unsent
  bool finished = false;     // nothing follows
  bool broken = false;       // the answer cannot be completed
  bool behind = false;       // the reader is too far behind
};

// Where the two sides of an exchange meet: the program's, on any thread, and the connection's, on
// the loop's. Shared by both, since either may go first.
class ExchangeState {
 public:
  struct RequestTraits {
    bool head_only = false;  // HEAD: no body follows the head
    bool keep_alive = true;
    bool chunking = true;  // HTTP/1.0 does not know it
    std::size_t max_unsent = SIZE_MAX;
  };

  explicit ExchangeState(RequestTraits traits) : traits_(traits) {}

  // The program's side. Each returns true when the connection must be woken.
  bool Respond(HttpResponse response) EXCLUDES(mutex_);
  bool BeginStream(int status, const Headers& headers) EXCLUDES(mutex_);
  bool BeginSized(int status, const Headers& headers, std::uint64_t length) EXCLUDES(mutex_);
  bool Write(std::string data) EXCLUDES(mutex_);
  bool End() EXCLUDES(mutex_);
  bool Abandon() EXCLUDES(mutex_);  // nobody is left who could answer

  // The connection's side.
  AnswerPart Take() EXCLUDES(mutex_);
  bool keep_alive() const { return traits_.keep_alive; }
  void Forget() { on_gone = on_room = nullptr, on_body = nullptr; }
  // From any thread; kept until this state goes.
  void Keep(std::shared_ptr<void> held) EXCLUDES(mutex_);

  std::atomic<bool> gone{false};
  std::atomic<bool> caller_is_known{false};
  std::atomic<std::size_t> unsent{0};
  std::atomic<bool> body_left{false};  // a part of the request was not read
  // The loop's thread only.
  std::function<void()> on_gone;
  std::function<void()> on_room;
  std::size_t room_below = 0;
  std::function<void(BodyPiece)> on_body;

 private:
  enum class Phase { kOpen, kStreaming, kFinished, kBroken, kBehind };

  bool Wake() REQUIRES(mutex_) { return !std::exchange(woken_, true); }

  const RequestTraits traits_;
  base::Mutex mutex_;
  Phase phase_ GUARDED_BY(mutex_) = Phase::kOpen;
  bool chunked_ GUARDED_BY(mutex_) = false;
  bool woken_ GUARDED_BY(mutex_) = false;
  bool closed_ GUARDED_BY(mutex_) = false;  // the last chunk was handed out
  bool sized_ GUARDED_BY(mutex_) = false;
  std::uint64_t left_ GUARDED_BY(mutex_) = 0;  // of a sized answer
  std::string head_ GUARDED_BY(mutex_);
  std::string body_ GUARDED_BY(mutex_);
  std::shared_ptr<const std::string> shared_body_ GUARDED_BY(mutex_);  // shared with other answers
  std::vector<std::shared_ptr<void>> kept_ GUARDED_BY(mutex_);  // shared with whom it is counted by
};

class Exchange final : public HttpExchange {
 public:
  Exchange(std::shared_ptr<LoopHandle> loop, std::weak_ptr<Connection> connection,
           std::shared_ptr<ExchangeState> state);
  ~Exchange() override;

  void Respond(HttpResponse response) override;
  void BeginStream(int status, Headers headers) override;
  void Write(std::string data) override;
  void End() override;
  bool Gone() const override { return state_->gone; }
  std::size_t Unsent() const override { return state_->unsent; }
  void OnGone(std::function<void()> gone) override;
  void BeginSized(int status, Headers headers, std::uint64_t length) override;
  void OnRoom(std::size_t below, std::function<void()> room) override;
  void ReadBody(std::function<void(BodyPiece)> taken) override;
  void KnowCaller() override { state_->caller_is_known = true; }
  void Keep(std::shared_ptr<void> held) override { state_->Keep(std::move(held)); }

 private:
  void WakeIf(bool needed);

  const std::shared_ptr<LoopHandle> loop_;      // shared with the loop
  const std::weak_ptr<Connection> connection_;  // looked at on the loop's thread only
  const std::shared_ptr<ExchangeState> state_;  // shared with the connection
};

}  // namespace muster::net
