#include "base/activity.hpp"

#include <algorithm>
#include <pthread.h>
#include <unistd.h>

namespace muster::base {
namespace {

Duration Rounded(std::chrono::steady_clock::duration time) {
  return std::chrono::duration_cast<Duration>(time);
}

}  // namespace

void Activity::Attach() {
  // The kernel keeps 15 characters of a thread's name.
  ::pthread_setname_np(::pthread_self(), name_.substr(0, 15).c_str());
  Lock lock(mutex_);
  thread_ = ::gettid();
  since_ = Clock::now();
}

void Activity::Begin(std::string_view what) {
  Lock lock(mutex_);
  busy_ = true;
  work_.assign(what);
  since_ = Clock::now();
}

void Activity::End() {
  Lock lock(mutex_);
  const auto now = Clock::now();
  busy_ = false;
  ++done_;
  busy_time_ += now - since_;
  longest_ = std::max(longest_, now - since_);
  since_ = now;
}

Activity::View Activity::Look() const {
  Lock lock(mutex_);
  const auto lasting = Clock::now() - since_;
  return {.name = name_,
          .thread = thread_,
          .busy = busy_,
          .work = work_,
          .since = Rounded(lasting),
          .done = done_,
          .busy_time = Rounded(busy_time_ + (busy_ ? lasting : Clock::duration{})),
          .longest = Rounded(std::max(longest_, busy_ ? lasting : Clock::duration{})),
          .queued = std::nullopt,
          .counters = {}};
}

}  // namespace muster::base
