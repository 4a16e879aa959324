#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "base/instant.hpp"
#include "base/mutex.hpp"

namespace muster::base {

// What one thread does now, for whoever looks from another. The thread marks its work with a Work;
// in between it waits. A mark costs two clock readings and an uncontended lock, so it belongs
// around pieces of work, not inside them.
class Activity {
 public:
  struct View {
    std::string name;
    pid_t thread = 0;  // the kernel's number, 0 before it runs
    bool busy = false;
    std::string work;                     // in hand while busy, else the last one
    Duration since{};                     // how long it has been busy or waiting
    std::uint64_t done = 0;               // pieces of work
    Duration busy_time{};                 // in all
    Duration longest{};                   // of one piece
    std::optional<std::uint64_t> queued;  // pieces that wait, where there is a queue
    std::vector<std::pair<std::string, std::uint64_t>> counters;  // of its owner
  };

  // Marks the time until it is destroyed as busy with `what`. For the activity's own thread.
  class Work {
   public:
    Work(Activity& activity, std::string_view what) : activity_(activity) { activity_.Begin(what); }
    ~Work() { activity_.End(); }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

   private:
    Activity& activity_;
  };

  explicit Activity(std::string name) : name_(std::move(name)), since_(Clock::now()) {}

  // At the thread's start: notes its number and gives it the activity's name (ps, top, gdb).
  void Attach() EXCLUDES(mutex_);
  View Look() const EXCLUDES(mutex_);

 private:
  using Clock = std::chrono::steady_clock;
  void Begin(std::string_view what) EXCLUDES(mutex_);
  void End() EXCLUDES(mutex_);

  const std::string name_;
  mutable Mutex mutex_;
  pid_t thread_ GUARDED_BY(mutex_) = 0;
  bool busy_ GUARDED_BY(mutex_) = false;
  std::string work_ GUARDED_BY(mutex_);
  Clock::time_point since_ GUARDED_BY(mutex_);
  std::uint64_t done_ GUARDED_BY(mutex_) = 0;
  Clock::duration busy_time_ GUARDED_BY(mutex_){};
  Clock::duration longest_ GUARDED_BY(mutex_){};
};

}  // namespace muster::base
