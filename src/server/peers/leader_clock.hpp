#pragma once

#include <algorithm>
#include <deque>
#include <optional>

#include "base/instant.hpp"
#include "base/time_bounds.hpp"
#include "link/messages.hpp"

namespace muster::server {

// The leader's monotonic clock as a follower may rely on it: nodes behind the follower go by the
// follower's clock, and must not begin an order later than the leader allowed. A question asked at
// `asked` (own clock) and answered with `said` (leader's) shows that the leader's clock stood at
// `said` no earlier than at `asked`; so own time = leader's time + (asked - said) is never too
// late at that moment. Clocks drift, by far less than a thousandth: an answer is worth that much
// less as it ages, and the best of the last minute's counts.
class LeaderClock {
 public:
  // Answers come in the order of the questions; others are ignored.
  void Heard(MonoTime asked, MonoTime said) {
    const Duration ahead = asked - said;
    if (heard_.empty() || heard_.back().at < asked)
      heard_.push_back({asked, ahead});
    else if (heard_.back().at == asked)
      heard_.back().ahead = std::max(heard_.back().ahead, ahead);
    while (heard_.front().at + kKept < asked) heard_.pop_front();
  }
  void Forget() { heard_.clear(); }

  // The moment of the own clock by which the leader's surely stands before `theirs`, for a moment
  // not far from `now`; nothing before the first answer, and for what is no moment.
  std::optional<MonoTime> Own(MonoTime theirs, MonoTime now) const {
    if (!IsMoment(theirs.ms)) return std::nullopt;
    std::optional<Duration> best;
    for (const auto& one : heard_) {
      const MonoTime until = std::max(now, theirs + one.ahead);
      const Duration worth = one.ahead - (until - one.at) / 1000 - Duration(1);
      if (!best || worth > *best) best = worth;
    }
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

// Makes a frame of the leader's one that a node behind this server understands at `now`: the node
// goes by this server's clock. An order whose moment cannot be told is begun by nobody.
inline void ForOwnNodes(link::ServerFrame& frame, const LeaderClock& leader, MonoTime now) {
  if (frame.welcome) frame.welcome->server_time = now.ms;
  for (auto& order : frame.orders) {
    const auto own = leader.Own({order.start_by}, now);
    order.start_by = own ? own->ms : 0;
  }
}

}  // namespace muster::server
