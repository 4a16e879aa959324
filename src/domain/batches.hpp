#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace muster {

// A number of hosts, or a share of them.
struct HostShare {
  std::uint32_t number = 0;
  bool percent = false;

  // Percent rounds down, and is at least `least`.
  std::uint32_t Of(std::uint32_t hosts, std::uint32_t least) const;
  friend bool operator==(const HostShare&, const HostShare&) = default;
};

// "5" or "10%".
Result<HostShare> ParseHostShare(std::string_view text);
std::string FormatHostShare(const HostShare& share);

// How a stage walks over its hosts. `sizes` are the batches one by one; the last repeats, each time
// grown by `add` or `factor`. No sizes means one batch of all.
struct BatchPlan {
  std::vector<HostShare> sizes;
  HostShare add;             // "20 +10": 20, 30, 40, …
  std::uint32_t factor = 1;  // "1 *2": 1, 2, 4, …

  bool Empty() const { return sizes.empty(); }
  // Size of batch `index` (from 0) for a stage on `hosts` hosts; at least 1.
  std::uint32_t Size(std::uint32_t index, std::uint32_t hosts) const;
  friend bool operator==(const BatchPlan&, const BatchPlan&) = default;
};

// What came of a batch: hosts that succeeded, that failed, and of the others those that were not
// reached.
struct BatchEnd {
  std::uint32_t hosts = 0;
  std::uint32_t succeeded = 0;
  std::uint32_t failed = 0;
  std::uint32_t unreachable = 0;
};
struct BatchLimits {
  HostShare max_failures;
  std::optional<HostShare> max_unreachable;
};
// Why the stage does not go on behind the batch: "3 hosts failed; 2 are tolerated". "" when it may.
// With `last` there is no other batch, and a batch without a host that succeeded is judged by the
// limits only.
std::string WhyBatchEnds(const BatchEnd& end, const BatchLimits& limits, bool last);

// "1,10%,100%", "20 +10", "1 *2"; "" is the empty plan. kInvalid says what was expected.
Result<BatchPlan> ParseBatchPlan(std::string_view text);
std::string FormatBatchPlan(const BatchPlan& plan);

}  // namespace muster
