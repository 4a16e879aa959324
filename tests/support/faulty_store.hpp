#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "ports/forwarding_store.hpp"

namespace muster {

// What becomes of a commit.
enum class CommitFault {
  kNone,
  kAnswerLost,   // written; the caller is told kTimeout
  kUnavailable,  // not written; the caller is told kUnavailable
  kDiskFull,     // the same, in the words of a full disk
  kDelayed,      // held until ReleaseDelayed, then handed on
};

// A store whose next commits go wrong as asked. Safe from any thread.
class FaultyStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  // The next `count` commits, after those already planned, meet `fault`.
  void FailNext(CommitFault fault, std::size_t count = 1) EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    plan_.insert(plan_.end(), count, fault);
  }

  // Hands on what kDelayed holds, in order.
  void ReleaseDelayed() EXCLUDES(mutex_) {
    std::vector<std::function<void()>> held;
    {
      base::Lock lock(mutex_);
      held.swap(delayed_);
    }
    for (const auto& go : held) go();
  }

  std::size_t Delayed() const EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    return delayed_.size();
  }

  void Commit(std::shared_ptr<const Batch> batch, Term term, CommitNumber number,
              CommitDone done) override EXCLUDES(mutex_) {
    switch (TakeFault()) {
      case CommitFault::kNone:
        Next().Commit(std::move(batch), term, number, std::move(done));
        return;
      case CommitFault::kAnswerLost:
        Next().Commit(std::move(batch), term, number, [number, done](Result<> result) {
          // Being fenced is an answer that cannot be unknown for long; it comes with the resend.
          if (result)
            done(Fail(ErrorCode::kTimeout, "faulty: commit batch {}: answer lost", number.value));
          else
            done(std::move(result));
        });
        return;
      case CommitFault::kUnavailable:
        done(Fail(ErrorCode::kUnavailable, "faulty: commit batch {}: not now", number.value));
        return;
      case CommitFault::kDiskFull:
        done(Fail(ErrorCode::kUnavailable, "faulty: commit batch {}: disk is full", number.value));
        return;
      case CommitFault::kDelayed: {
        base::Lock lock(mutex_);
        delayed_.push_back(
            [this, batch, term, number, done] { Next().Commit(batch, term, number, done); });
        return;
      }
    }
  }

 private:
  CommitFault TakeFault() EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    if (plan_.empty()) return CommitFault::kNone;
    const CommitFault fault = plan_.front();
    plan_.pop_front();
    return fault;
  }

  mutable base::Mutex mutex_;
  std::deque<CommitFault> plan_ GUARDED_BY(mutex_);
  std::vector<std::function<void()>> delayed_ GUARDED_BY(mutex_);
};

}  // namespace muster
