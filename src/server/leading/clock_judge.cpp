#include "server/leading/clock_judge.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace muster::server {
namespace {

bool Off(Duration ahead) { return std::chrono::abs(ahead) > ClockJudge::kMost; }

std::string Sentence(Duration ahead, std::string_view whose) {
  const auto by = std::chrono::round<std::chrono::seconds>(std::chrono::abs(ahead));
  return fmt::format("this machine's clock is {} {} {}; set it right", FormatDuration(by),
                     ahead > Duration::zero() ? "ahead of" : "behind", whose);
}

}  // namespace

// Between question and answer only the steady clock is trusted: the wall clock may be set just
// then.
void ClockJudge::StoreSaid(Now asked, WallTime there, MonoTime answered) {
  const Word word{SurelyAhead(asked.wall, there, asked.wall + (answered - asked.mono)), asked};
  base::Lock lock(mutex_);
  store_ = word;
}

Duration ClockJudge::LeaderSaid(const std::string& leader, MonoTime asked, WallTime there,
                                Now answered) {
  const WallTime before = answered.wall + (asked - answered.mono);
  const Word word{SurelyAhead(before, there, answered.wall), answered};
  base::Lock lock(mutex_);
  leader_name_ = leader;
  leader_ = word;
  return word.ahead;
}

void ClockJudge::FollowerSaid(const std::string& follower, Duration ahead, Now now) {
  base::Lock lock(mutex_);
  followers_[follower] = {-ahead, now};
}

std::string ClockJudge::Wrong(Now now, std::size_t members) const {
  base::Lock lock(mutex_);
  if (store_ && Off(store_->AheadAt(now))) return Sentence(store_->AheadAt(now), "the store's");
  if (store_ && store_->FreshAt(now)) return "";
  if (leader_ && leader_->FreshAt(now) && Off(leader_->AheadAt(now)))
    return Sentence(leader_->AheadAt(now), fmt::format("that of {}, which leads", leader_name_));
  return Majority(now, members);
}

std::string ClockJudge::Majority(Now now, std::size_t members) const {
  std::size_t ahead = 0;
  std::size_t behind = 0;
  Duration least = Duration::max();
  for (const auto& [name, word] : followers_) {
    if (!word.FreshAt(now) || !Off(word.AheadAt(now))) continue;
    ++(word.AheadAt(now) > Duration::zero() ? ahead : behind);
    least = std::min(least, Duration(std::chrono::abs(word.AheadAt(now))));
  }
  if (2 * std::max(ahead, behind) <= members) return "";
  return Sentence(ahead > behind ? least : -least, "those of most servers");
}

std::string ClockJudge::Differs(Now now) const {
  base::Lock lock(mutex_);
  if (!leader_ || !leader_->FreshAt(now) || !Off(leader_->AheadAt(now))) return "";
  return Sentence(leader_->AheadAt(now), fmt::format("that of {}, which leads", leader_name_));
}

Now ClockJudge::Hold(Now now) const {
  base::Lock lock(mutex_);
  if (!store_ || !Off(store_->AheadAt(now))) return now;
  now.wall = store_->said.wall + (now.mono - store_->said.mono);
  return now;
}

std::optional<Duration> ClockJudge::Ahead(Now now) const {
  base::Lock lock(mutex_);
  if (store_ && store_->FreshAt(now)) return store_->AheadAt(now);
  if (leader_ && leader_->FreshAt(now)) return leader_->AheadAt(now);
  return std::nullopt;
}

}  // namespace muster::server
