#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

// Names for clang's -Wthread-safety: each field says what guards it, and the compiler proves it.
#if defined(__clang__)
#define MUSTER_TS(x) __attribute__((x))
#else
#define MUSTER_TS(x)
#endif
#define GUARDED_BY(x) MUSTER_TS(guarded_by(x))
#define REQUIRES(...) MUSTER_TS(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) MUSTER_TS(locks_excluded(__VA_ARGS__))

namespace muster::base {

class MUSTER_TS(capability("mutex")) Mutex {
 public:
  void lock() MUSTER_TS(acquire_capability()) { mutex_.lock(); }
  void unlock() MUSTER_TS(release_capability()) { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class MUSTER_TS(scoped_lockable) Lock {
 public:
  explicit Lock(Mutex& mutex) MUSTER_TS(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~Lock() MUSTER_TS(release_capability()) { mutex_.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Mutex& mutex_;
};

// Waits with the mutex held; always in a loop over the condition.
class Condition {
 public:
  void Wait(Mutex& mutex) REQUIRES(mutex) { condition_.wait(mutex); }
  template <typename TimePoint>
  bool WaitUntil(Mutex& mutex, TimePoint deadline) REQUIRES(mutex) {
    return condition_.wait_until(mutex, deadline) == std::cv_status::no_timeout;
  }
  void NotifyOne() noexcept { condition_.notify_one(); }
  void NotifyAll() noexcept { condition_.notify_all(); }

 private:
  std::condition_variable_any condition_;
};

}  // namespace muster::base
