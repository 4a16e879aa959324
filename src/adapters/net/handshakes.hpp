#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "adapters/net/event_loop_impl.hpp"
#include "adapters/net/fair_queue.hpp"
#include "adapters/net/tls.hpp"
#include "base/mutex.hpp"

namespace muster::net {

// The steps of accepting handshakes, on a thread of their own: what a client sends decides what a
// step costs, and the connections that the loop has already do not wait for it. Addresses share the
// thread by the time that their steps take (FairQueue).
//
// From Begin on the SSL and its descriptor are the thread's, until `done` is called or Withdraw
// succeeds. All calls are for the loop's thread.
class Handshakes {
 public:
  struct Step;
  using StepRef = std::weak_ptr<Step>;
  using Done = std::function<void(const Attempt&)>;

  explicit Handshakes(std::shared_ptr<LoopHandle> loop) : loop_(std::move(loop)) {}
  ~Handshakes() { Stop(); }
  Handshakes(const Handshakes&) = delete;
  Handshakes& operator=(const Handshakes&) = delete;

  // Does TryHandshake(ssl) when it is the turn of `source`, then calls `done` on the loop's thread.
  // After Stop neither.
  StepRef Begin(const std::string& source, SSL* ssl, Done done) EXCLUDES(mutex_);

  // Takes back a step that has not begun; its `done` is dropped. False: it has begun, and `done`
  // follows.
  bool Withdraw(const StepRef& step) EXCLUDES(mutex_);

  // Waits for the step at work, and drops those that wait.
  void Stop() EXCLUDES(mutex_);

 private:
  using StepPtr = std::shared_ptr<Step>;  // the queue's, then the thread's, then the loop's

  void Run() EXCLUDES(mutex_);
  StepPtr Take() EXCLUDES(mutex_);

  const std::shared_ptr<LoopHandle> loop_;  // shared with the loop
  std::thread thread_;                      // from the first step on
  base::Mutex mutex_;
  base::Condition changed_;
  FairQueue<StepPtr> queue_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
};

}  // namespace muster::net
