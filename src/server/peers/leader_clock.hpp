#pragma once

#include <deque>
#include <optional>

#include "base/instant.hpp"

namespace muster::server {

// The leader's monotonic clock as a follower may rely on it: nodes behind the follower go by the
// follower's clock, and must not begin an order later than the leader allowed. A question asked at
// `asked` (own clock) and answered with `said` (leader's) shows that the leader's clock stood at
// `said` no earlier than at `asked`; so own time = leader's time + (asked - said) is never too
// late. The best of the last minute's answers counts: clocks may drift.
class LeaderClock {
 public:
  void Heard(MonoTime asked, MonoTime said) {
    heard_.push_back({asked, asked - said});
    while (heard_.front().at + kKept < asked) heard_.pop_front();
  }
  void Forget() { heard_.clear(); }

  // The moment of the own clock by which the leader's surely stands before `theirs`; nothing before
  // the first answer.
  std::optional<MonoTime> Own(MonoTime theirs) const {
    std::optional<Duration> best;
    for (const auto& one : heard_)
      if (!best || one.ahead > *best) best = one.ahead;
    if (!best) return std::nullopt;
    return theirs + *best;
  }

 private:
  static constexpr Duration kKept = std::chrono::minutes(1);
  struct One {
    MonoTime at;
    Duration ahead;  // own clock before the leader's, at least
  };
  std::deque<One> heard_;
};

}  // namespace muster::server
