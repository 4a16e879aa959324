#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "domain/ids.hpp"
#include "domain/task.hpp"

namespace muster::server {

// How one task of a run ended.
struct TaskStep {
  CommitNumber commit;
  RunId run;
  std::string host;
  std::uint32_t ordinal = 0;
  Attempt attempt;
  TaskState state = TaskState::kWaiting;
  int exit_code = 0;
  int signal = 0;
  std::string reason;
};

// The tasks of all runs that ended last, in the order of their commits, so that a client whose
// connection was cut can go on where it was. Holds at most `most`. Not thread safe.
class RecentNews {
 public:
  explicit RecentNews(std::size_t most) : most_(most) {}

  // News of this commit came. The first call says from where on nothing is missed.
  void Reach(CommitNumber commit) {
    if (!floor_) floor_ = commit;
  }
  void Add(TaskStep step);  // after Reach
  // News was missed: begin again with the next Reach.
  void Clear() {
    steps_.clear();
    floor_.reset();
  }

  // Whether every step after commit `from` is still here.
  bool Covers(CommitNumber from) const { return floor_ && from >= *floor_; }
  // The steps of `runs` after commit `from`, oldest first.
  std::vector<TaskStep> After(CommitNumber from, const std::set<RunId>& runs) const;

 private:
  const std::size_t most_;
  std::deque<TaskStep> steps_;
  std::optional<CommitNumber> floor_;  // all steps of later commits are in steps_
};

}  // namespace muster::server
