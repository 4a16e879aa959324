#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "domain/run.hpp"

namespace muster {

// Names what a person is asked to approve: this visit, this batch, under the plan, limits and
// skipped stages that the run has now, and the runs above it (`parents`, the nearest first). It
// changes when one of them does, so that an answer is never taken for something that its author has
// not seen: "7-1-9f3a0c11d2e4".
std::string ApprovalId(const Run& run, const StageVisit& visit,
                       std::span<const Run* const> parents = {});

// The same for many visits of one run. A plan may be large: each is hashed once, at the first id
// that needs it. The runs and `parents` stay as they are meanwhile.
class ApprovalIds {
 public:
  explicit ApprovalIds(const Run& run, std::span<const Run* const> parents = {})
      : run_(run), parents_(parents) {}

  std::string Of(const StageVisit& visit);
  // Whether this is the visit's id. One of another visit or batch is told apart without any hash.
  bool Is(const StageVisit& visit, std::string_view id);

 private:
  const Run& run_;
  std::span<const Run* const> parents_;
  std::vector<std::string> plans_;  // hashes: the run's own, then its parents'; empty: not yet made
};

}  // namespace muster
