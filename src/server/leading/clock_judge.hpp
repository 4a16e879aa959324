#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "base/instant.hpp"
#include "base/mutex.hpp"
#include "ports/clock.hpp"

namespace muster::server {

// By how much a clock is surely ahead of another one, negative: behind it. The other one said
// `there`, after the own one showed `before` and before it showed `after`.
inline Duration SurelyAhead(WallTime before, WallTime there, WallTime after) {
  if (before > there) return before - there;
  if (after < there) return after - there;
  return Duration::zero();
}

// Whether this server's wall clock is one that a cluster can be led by. A leader with a wrong clock
// would start what is not due. The store's clock is what all servers have in common, so its word
// counts. While it is not to be had, the leader's counts for a follower; and for a leader that of
// its followers, when most members find the same of it, since one of them may be wrong itself.
//
// A difference that was told once is known from then on: the steady clock shows when somebody sets
// the wall clock. So a clock that jumps is wrong at once, not at the next answer. Safe from any
// thread.
class ClockJudge {
 public:
  static constexpr Duration kMost = std::chrono::seconds(1);    // off
  static constexpr Duration kFresh = std::chrono::seconds(10);  // a word counts for so long

  // The store's clock stood at `there` somewhen between the question and the answer.
  void StoreSaid(Now asked, WallTime there, MonoTime answered) EXCLUDES(mutex_);
  // The leader's, likewise. By how much this one is surely ahead of it.
  Duration LeaderSaid(const std::string& leader, MonoTime asked, WallTime there, Now answered)
      EXCLUDES(mutex_);
  // A follower finds that its clock is so much ahead of this server's, which leads.
  void FollowerSaid(const std::string& follower, Duration ahead, Now now) EXCLUDES(mutex_);

  // Why this server must not lead, in words; "" when it may. `members` are all of the cluster.
  std::string Wrong(Now now, std::size_t members) const EXCLUDES(mutex_);
  // The same of the leader's clock, also when the store's word is good: somebody should know.
  std::string Differs(Now now) const EXCLUDES(mutex_);

  // What the time is, for an engine: a wall clock that jumped away from the store's is not
  // believed, and goes on as it did.
  Now Hold(Now now) const EXCLUDES(mutex_);

  // By how much this clock is surely ahead of the store's, or else the leader's.
  std::optional<Duration> Ahead(Now now) const EXCLUDES(mutex_);

 private:
  struct Word {
    Duration ahead{0};  // this clock before the other, when it was said
    Now said = {};

    // The same now: less what this clock was moved since.
    Duration AheadAt(Now now) const {
      return ahead + ((now.wall - said.wall) - (now.mono - said.mono));
    }
    bool FreshAt(Now now) const { return now.mono - said.mono <= kFresh; }
  };

  std::string Majority(Now now, std::size_t members) const REQUIRES(mutex_);

  mutable base::Mutex mutex_;
  std::optional<Word> store_ GUARDED_BY(mutex_);
  std::string leader_name_ GUARDED_BY(mutex_);
  std::optional<Word> leader_ GUARDED_BY(mutex_);
  std::map<std::string, Word> followers_ GUARDED_BY(mutex_);
};

}  // namespace muster::server
