#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/activity.hpp"
#include "base/mutex.hpp"

namespace muster::server {

// A few threads for what may block: reads from the store, checks of certificates. Work that finds
// the queue full is refused, so that a flood cannot fill the memory. Safe from any thread.
class WorkerPool {
 public:
  explicit WorkerPool(std::size_t threads, std::size_t most_queued = 10'000);
  ~WorkerPool();  // finishes what is queued

  // False when the queue is full or the pool is stopping. `what` is shown to who asks what the
  // server does.
  bool Post(std::function<void()> work, std::string what = "work");
  // For what must not wait for other work, however long that takes: it comes before all that is
  // queued, and one more thread does nothing else.
  bool PostUrgent(std::function<void()> work, std::string what);
  void Stop();

  // Those for any work.
  std::size_t Threads() const { return activities_.size() - 1; }
  // One for each thread; the queue is shown with the first, urgent work with the last.
  std::vector<base::Activity::View> Activities() const;

 private:
  struct Job {
    std::function<void()> work;
    std::string what;
  };
  bool Add(std::deque<Job>& queue, Job job) REQUIRES(mutex_);
  // The job to do next; nothing when the pool stops and no more is queued.
  bool Take(Job& job) EXCLUDES(mutex_);
  bool TakeUrgent(Job& job) EXCLUDES(mutex_);
  void Loop(base::Activity& activity, bool (WorkerPool::*take)(Job&));

  const std::size_t most_queued_;
  mutable base::Mutex mutex_;
  base::Condition changed_;
  base::Condition urgent_changed_;  // for the thread of urgent work
  std::deque<Job> queue_ GUARDED_BY(mutex_);
  std::deque<Job> urgent_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::unique_ptr<base::Activity>> activities_;
  std::vector<std::thread> threads_;
};

}  // namespace muster::server
