#include "server/worker_pool.hpp"

#include <utility>

namespace muster::server {

WorkerPool::WorkerPool(std::size_t threads, std::size_t most_queued) : most_queued_(most_queued) {
  for (std::size_t i = 0; i < threads; ++i)
    activities_.push_back(std::make_unique<base::Activity>("worker" + std::to_string(i + 1)));
  for (auto& activity : activities_) threads_.emplace_back([this, &own = *activity] { Loop(own); });
}

WorkerPool::~WorkerPool() { Stop(); }

bool WorkerPool::Post(std::function<void()> work, std::string what) {
  {
    base::Lock lock(mutex_);
    if (stopping_ || queue_.size() >= most_queued_) return false;
    queue_.push_back({std::move(work), std::move(what)});
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

std::vector<base::Activity::View> WorkerPool::Activities() const {
  std::vector<base::Activity::View> views;
  for (const auto& activity : activities_) views.push_back(activity->Look());
  base::Lock lock(mutex_);
  if (!views.empty()) views.front().queued = queue_.size();
  return views;
}

void WorkerPool::Loop(base::Activity& activity) {
  activity.Attach();
  while (true) {
    Job job;
    {
      base::Lock lock(mutex_);
      while (queue_.empty() && !stopping_) changed_.Wait(mutex_);
      if (queue_.empty()) return;
      job = std::move(queue_.front());
      queue_.pop_front();
    }
    const base::Activity::Work mark(activity, job.what);
    job.work();
  }
}

}  // namespace muster::server
