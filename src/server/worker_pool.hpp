#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.hpp"

namespace muster::server {

// A few threads for what may block: reads from the store, checks of certificates. Work that finds
// the queue full is refused, so that a flood cannot fill the memory. Safe from any thread.
class WorkerPool {
 public:
  explicit WorkerPool(std::size_t threads, std::size_t most_queued = 10'000);
  ~WorkerPool();  // finishes what is queued

  // False when the queue is full or the pool is stopping.
  bool Post(std::function<void()> work);
  void Stop();

 private:
  void Loop();

  const std::size_t most_queued_;
  base::Mutex mutex_;
  base::Condition changed_;
  std::deque<std::function<void()>> queue_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace muster::server
