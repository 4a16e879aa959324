#pragma once

#include <algorithm>

#include "base/instant.hpp"

namespace muster::server {

// Whether a server has been of no use to its nodes for so long that they are better off elsewhere:
// there is no way from it to a leader, though somewhere there may be one. Only decides; whoever
// asks tells the nodes. Moments are of the server's own steady clock. Not thread-safe.
//
// A server that does not reach etcd either cannot know whether anybody leads, so it may send its
// nodes to servers that are no better off. They are told once, then again after pauses that double;
// and a node that has tried all the others says so, and is left alone in between.
class CutOff {
 public:
  enum class Sees {
    kLeader,   // it leads, or follows a leader that it hears
    kNobody,   // nobody leads, and those say so who would know: moving helps nobody
    kNothing,  // no way to whoever may lead
  };

  // Servers of a cluster that starts find each other in this time; nodes wait for them meanwhile.
  static constexpr Duration kAtStart = std::chrono::seconds(15);
  static constexpr Duration kFirstPause = std::chrono::seconds(15);
  static constexpr Duration kLongestPause = std::chrono::minutes(4);

  CutOff(MonoTime started, Duration after)
      : after_(after), useful_(started + std::max(Duration::zero(), kAtStart - after)) {}

  // What it sees at `now`; of a leader, when it was heard last.
  void See(Sees sees, MonoTime now, MonoTime heard = MonoTime{0}) {
    if (sees == Sees::kNobody) useful_ = std::max(useful_, now);
    if (sees == Sees::kLeader) useful_ = std::max(useful_, heard);
    if (!SendsAway(now)) pause_ = Duration::zero();
  }

  // New nodes that know of other servers are sent there.
  bool SendsAway(MonoTime now) const { return now - useful_ > after_; }

  // Whether all nodes that are here are to be sent away now; true once for each round. `over` is
  // the time that the round may take.
  bool Tell(MonoTime now, Duration& over) {
    if (!SendsAway(now)) return false;
    const bool first = pause_ == Duration::zero();
    if (!first && now < again_) return false;
    pause_ = first ? kFirstPause : std::min(pause_ * 2, kLongestPause);
    again_ = now + pause_;
    over = std::min(after_, pause_ / 2);
    if (!first) over = pause_ / 2;
    return true;
  }

 private:
  const Duration after_;
  MonoTime useful_;                    // lately, or at the start: will be
  Duration pause_ = Duration::zero();  // before the next round; zero before the first
  MonoTime again_{0};
};

}  // namespace muster::server
