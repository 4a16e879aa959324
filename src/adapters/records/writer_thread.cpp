#include "adapters/records/writer_thread.hpp"

#include <fmt/format.h>

namespace muster::records {

void WriterThread::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void WriterThread::Stop() {
  std::deque<Work> left;
  {
    base::Lock lock(mutex_);
    closing_ = true;
    left.swap(posted_);
  }
  work_.NotifyAll();
  if (thread_.joinable()) thread_.join();
  for (const auto& work : left) work(false);
}

void WriterThread::Post(Work work) {
  {
    base::Lock lock(mutex_);
    posted_.push_back(std::move(work));
  }
  work_.NotifyOne();
}

base::Activity::View WriterThread::Look() {
  auto view = activity_.Look();
  base::Lock lock(mutex_);
  view.queued = posted_.size();
  return view;
}

void WriterThread::Loop() {
  activity_.Attach();
  while (true) {
    Work work;
    {
      base::Lock lock(mutex_);
      while (!closing_ && posted_.empty()) work_.Wait(mutex_);
      if (closing_) return;
      work = std::move(posted_.front());
      posted_.pop_front();
    }
    const base::Activity::Work mark(activity_, "commit");
    work(true);
  }
}

Error WriterThread::Closing() const {
  return {ErrorCode::kUnavailable, fmt::format("{}: closing", store_)};
}

}  // namespace muster::records
