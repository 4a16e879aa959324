#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "domain/run.hpp"
#include "server/results/interval_set.hpp"

namespace muster::server {

// Folds sets of a run's hosts into text for people, as FoldHostNames does, at a cost of the
// intervals it writes rather than of the hosts they hold: which neighbours in the frozen list count
// on is found once. Immutable, so safe from any thread.
class HostFolds {
 public:
  explicit HostFolds(std::shared_ptr<const Targets> targets);

  // The hosts of `ranges` (ascending); `count` is how many the whole set has, of which `ranges` may
  // be only the beginning. Ends after about `limit` characters with ", … (+N more)".
  std::string Fold(std::span<const IntervalSet::Range> ranges, std::uint32_t count,
                   std::size_t limit) const;

 private:
  const std::string& Name(std::uint32_t ordinal) const { return (*targets_)[ordinal].name; }

  std::shared_ptr<const Targets> targets_;
  std::vector<std::uint32_t> last_;  // of the hosts whose names count on from this one
};

}  // namespace muster::server
