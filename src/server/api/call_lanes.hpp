#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/mutex.hpp"
#include "server/api/call.hpp"
#include "server/runtime/worker_pool.hpp"

namespace muster::server::api {

// Gives each caller a share of the workers. At most so many of its calls are at work at a time; the
// others wait in a queue of its own, so that one caller with slow calls leaves workers to all
// others. Callers without a name cannot be told apart: they share two queues, and at most one call
// of each is at work. Safe from any thread; outlives the workers' work.
class CallLanes {
 public:
  // The callers without a name. What they read (health, metrics) does not wait for what they send.
  static constexpr std::string_view kNameless = "";
  static constexpr std::string_view kNamelessReads = "reads";

  struct Bounds {
    std::size_t at_work = 1;      // of one caller with a name
    std::size_t waiting = 1'000;  // of one caller
    std::size_t waiting_in_all = 10'000;
  };
  using Handle = std::function<void(CallPtr)>;

  CallLanes(WorkerPool& workers, Bounds bounds) : workers_(workers), bounds_(bounds) {}

  // Runs `handle`, which must outlive the workers' work, for the call on a worker. A call that
  // finds too many waiting is answered 429 or, when they are those of others, 503. `what` as in
  // WorkerPool::Post.
  void Post(const std::string& caller, const Handle& handle, CallPtr call, std::string what)
      EXCLUDES(mutex_);

 private:
  struct Waiting {
    const Handle* handle = nullptr;
    CallPtr call;
    std::string what;
  };
  struct Lane {
    std::size_t at_work = 0;
    std::deque<Waiting> waiting;
  };
  enum class Fate : std::uint8_t { kBegins, kWaits, kTooMany, kTooBusy };

  Fate Admit(const std::string& caller, Waiting& one) EXCLUDES(mutex_);
  // False: no worker takes it, and it was answered.
  bool Begin(const std::string& caller, Waiting one) EXCLUDES(mutex_);
  // One of the caller's calls is done: the next one begins.
  void Next(const std::string& caller) EXCLUDES(mutex_);
  bool TakeNext(const std::string& caller, Waiting& one) EXCLUDES(mutex_);

  WorkerPool& workers_;
  const Bounds bounds_;
  base::Mutex mutex_;
  std::unordered_map<std::string, Lane> lanes_ GUARDED_BY(mutex_);
  std::size_t waiting_ GUARDED_BY(mutex_) = 0;
};

}  // namespace muster::server::api
