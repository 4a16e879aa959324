#pragma once

#include <string_view>
#include <vector>

#include "domain/ids.hpp"

namespace muster::server::api {

// Run ids from `first` to `last`, both included.
struct RunIdRange {
  RunId first;
  RunId last;

  friend bool operator==(const RunIdRange&, const RunIdRange&) = default;
};

// The ids whose names begin so ("r2": r2, r20, r2.1, …), the newest first. Few ranges, each without
// a gap; none when no name begins so.
std::vector<RunIdRange> RunIdsBeginning(std::string_view prefix);

}  // namespace muster::server::api
