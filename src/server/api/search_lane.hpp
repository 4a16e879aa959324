#pragma once

#include <deque>
#include <functional>
#include <utility>

#include "base/mutex.hpp"
#include "server/worker_pool.hpp"

namespace muster::server::api {

// Lets one step of a search at a time onto the workers: an expression may be slow on long lines,
// and searches of all callers together must leave the other workers to the rest of the API. Safe
// from any thread; outlives the workers' work.
class SearchLane {
 public:
  explicit SearchLane(WorkerPool& workers) : workers_(workers) {}

  // Steps are done in the order they came. One that finds no worker is dropped.
  void Post(std::function<void()> step) EXCLUDES(mutex_) {
    {
      base::Lock lock(mutex_);
      if (std::exchange(busy_, true)) return waiting_.push_back(std::move(step));
    }
    Begin(std::move(step));
  }

 private:
  void Begin(std::function<void()> step) EXCLUDES(mutex_) {
    const bool posted = workers_.Post(
        [this, step = std::move(step)]() mutable {
          std::exchange(step, nullptr)();
          Next();
        },
        "search");
    if (!posted) Next();
  }

  void Next() EXCLUDES(mutex_) {
    std::function<void()> step;
    {
      base::Lock lock(mutex_);
      busy_ = !waiting_.empty();
      if (!busy_) return;
      step = std::move(waiting_.front());
      waiting_.pop_front();
    }
    Begin(std::move(step));
  }

  WorkerPool& workers_;
  base::Mutex mutex_;
  bool busy_ GUARDED_BY(mutex_) = false;
  std::deque<std::function<void()>> waiting_ GUARDED_BY(mutex_);
};

}  // namespace muster::server::api
