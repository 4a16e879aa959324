#include "server/worker_pool.hpp"

#include <utility>

namespace muster::server {

WorkerPool::WorkerPool(std::size_t threads, std::size_t most_queued) : most_queued_(most_queued) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

WorkerPool::~WorkerPool() { Stop(); }

bool WorkerPool::Post(std::function<void()> work) {
  {
    base::Lock lock(mutex_);
    if (stopping_ || queue_.size() >= most_queued_) return false;
    queue_.push_back(std::move(work));
  }
  changed_.NotifyOne();
  return true;
}

void WorkerPool::Stop() {
  {
    base::Lock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  for (auto& thread : threads_)
    if (thread.joinable()) thread.join();
}

void WorkerPool::Loop() {
  while (true) {
    std::function<void()> work;
    {
      base::Lock lock(mutex_);
      while (queue_.empty() && !stopping_) changed_.Wait(mutex_);
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
  }
}

}  // namespace muster::server
