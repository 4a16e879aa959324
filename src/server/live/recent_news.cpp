#include "server/live/recent_news.hpp"

#include <algorithm>
#include <utility>

namespace muster::server {

void RecentNews::Add(TaskStep step) {
  steps_.push_back(std::move(step));
  if (steps_.size() <= most_) return;
  floor_ = std::max(floor_.value_or(CommitNumber{}), steps_.front().commit);
  steps_.pop_front();
}

std::vector<TaskStep> RecentNews::After(CommitNumber from, const std::set<RunId>& runs) const {
  std::vector<TaskStep> after;
  const auto first = std::ranges::partition_point(
      steps_, [&](const TaskStep& step) { return step.commit <= from; });
  for (auto step = first; step != steps_.end(); ++step)
    if (runs.contains(step->run)) after.push_back(*step);
  return after;
}

}  // namespace muster::server
