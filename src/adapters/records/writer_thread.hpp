#pragma once

#include <deque>
#include <functional>
#include <future>
#include <string>
#include <thread>

#include "base/activity.hpp"
#include "base/mutex.hpp"
#include "base/result.hpp"

namespace muster::records {

// The one thread that writes a store. Work is done in the order it was posted.
class WriterThread {
 public:
  // `open` is false when the thread ends instead: the work is not done.
  using Work = std::function<void(bool open)>;

  explicit WriterThread(std::string store) : store_(std::move(store)) {}
  ~WriterThread() { Stop(); }

  void Start();
  // Ends the work under way, and tells what waits behind it. May be called twice.
  void Stop() EXCLUDES(mutex_);

  void Post(Work work) EXCLUDES(mutex_);
  // Waits for the answer. kUnavailable: the thread ended.
  template <typename T>
  Result<T> Ask(const std::function<Result<T>()>& question) EXCLUDES(mutex_) {
    std::promise<Result<T>> promise;
    auto answer = promise.get_future();
    Post([&](bool open) { promise.set_value(open ? question() : Fail(Closing())); });
    return answer.get();
  }

  base::Activity::View Look() EXCLUDES(mutex_);  // what it does now

 private:
  void Loop() EXCLUDES(mutex_);
  Error Closing() const;

  const std::string store_;  // for messages
  base::Activity activity_{"committer"};
  base::Mutex mutex_;
  base::Condition work_;
  std::deque<Work> posted_ GUARDED_BY(mutex_);
  bool closing_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace muster::records
