#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "base/mutex.hpp"
#include "server/runtime/worker_pool.hpp"

namespace muster::server::api {

// Lets one step of a kind of work at a time onto the workers: such steps of all callers together
// must leave the other workers to the rest of the API. Searches have a lane, as an expression may
// be slow on long lines, and documents have one, as a large one takes a while to check. Safe from
// any thread; outlives the workers' work.
class Lane {
 public:
  // `what` is shown to who asks what the server does.
  Lane(WorkerPool& workers, std::string what) : workers_(workers), what_(std::move(what)) {}

  // Steps are done in the order they came. For one that finds no worker `dropped` is called
  // instead, on any thread.
  void Post(std::function<void()> step, std::function<void()> dropped = [] {}) EXCLUDES(mutex_) {
    Work work{std::move(step), std::move(dropped)};
    {
      base::Lock lock(mutex_);
      if (std::exchange(busy_, true)) return waiting_.push_back(std::move(work));
    }
    Begin(std::move(work));
  }

 private:
  struct Work {
    std::function<void()> step;
    std::function<void()> dropped;
  };

  void Begin(Work work) EXCLUDES(mutex_) {
    while (true) {
      const auto step = [this, step = work.step]() mutable {
        std::exchange(step, nullptr)();
        Work next;
        if (Next(next)) Begin(std::move(next));
      };
      if (workers_.Post(step, what_)) return;
      work.dropped();
      if (!Next(work)) return;
    }
  }

  // False: none waits.
  bool Next(Work& work) EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    busy_ = !waiting_.empty();
    if (!busy_) return false;
    work = std::move(waiting_.front());
    waiting_.pop_front();
    return true;
  }

  WorkerPool& workers_;
  const std::string what_;
  base::Mutex mutex_;
  bool busy_ GUARDED_BY(mutex_) = false;
  std::deque<Work> waiting_ GUARDED_BY(mutex_);
};

}  // namespace muster::server::api
