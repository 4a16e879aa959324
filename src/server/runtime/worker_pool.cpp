#include "server/runtime/worker_pool.hpp"

#include <utility>

namespace muster::server {

WorkerPool::WorkerPool(std::size_t threads, std::size_t most_queued) : most_queued_(most_queued) {
  for (std::size_t i = 0; i < threads; ++i)
    activities_.push_back(std::make_unique<base::Activity>("worker" + std::to_string(i + 1)));
  activities_.push_back(std::make_unique<base::Activity>("urgent"));
  for (const auto& activity : activities_) {
    const auto take = activity == activities_.back() ? &WorkerPool::TakeUrgent : &WorkerPool::Take;
    threads_.emplace_back([this, &own = *activity, take] { Loop(own, take); });
  }
}

WorkerPool::~WorkerPool() { Stop(); }

bool WorkerPool::Add(std::deque<Job>& queue, Job job) {
  if (stopping_ || queue.size() >= most_queued_) return false;
  queue.push_back(std::move(job));
  return true;
}

bool WorkerPool::Post(std::function<void()> work, std::string what) {
  {
    base::Lock lock(mutex_);
    if (!Add(queue_, {std::move(work), std::move(what)})) return false;
  }
  changed_.NotifyOne();
  return true;
}

bool WorkerPool::PostUrgent(std::function<void()> work, std::string what) {
  {
    base::Lock lock(mutex_);
    if (!Add(urgent_, {std::move(work), std::move(what)})) return false;
  }
  // Whoever of them is free takes it.
  urgent_changed_.NotifyOne();
  changed_.NotifyOne();
  return true;
}

void WorkerPool::Stop() {
  {
    base::Lock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  urgent_changed_.NotifyAll();
  for (auto& thread : threads_)
    if (thread.joinable()) thread.join();
}

std::vector<base::Activity::View> WorkerPool::Activities() const {
  std::vector<base::Activity::View> views;
  for (const auto& activity : activities_) views.push_back(activity->Look());
  base::Lock lock(mutex_);
  views.back().queued = urgent_.size();
  if (views.size() > 1) views.front().queued = queue_.size();
  return views;
}

bool WorkerPool::Take(Job& job) {
  base::Lock lock(mutex_);
  while (queue_.empty() && urgent_.empty() && !stopping_) changed_.Wait(mutex_);
  auto& queue = urgent_.empty() ? queue_ : urgent_;
  if (queue.empty()) return false;
  job = std::move(queue.front());
  queue.pop_front();
  return true;
}

bool WorkerPool::TakeUrgent(Job& job) {
  base::Lock lock(mutex_);
  while (urgent_.empty() && !stopping_) urgent_changed_.Wait(mutex_);
  if (urgent_.empty()) return false;
  job = std::move(urgent_.front());
  urgent_.pop_front();
  return true;
}

void WorkerPool::Loop(base::Activity& activity, bool (WorkerPool::*take)(Job&)) {
  activity.Attach();
  for (Job job; (this->*take)(job); job = {}) {
    const base::Activity::Work mark(activity, job.what);
    job.work();
  }
}

}  // namespace muster::server
