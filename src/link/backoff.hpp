#pragma once

#include <algorithm>
#include <cstdint>

#include "base/instant.hpp"

namespace muster::link {

// Delays between attempts: 1, 1, 2, 3, 5, 8, … seconds up to `most`, each spread at random over
// half to one and a half of itself, so that ten thousand nodes do not come back in one second.
class Backoff {
 public:
  explicit Backoff(Duration most = std::chrono::seconds(60)) : most_(most) {}

  // `random` is uniform over all 64 bits.
  Duration Next(std::uint64_t random) {
    const std::int64_t base = std::min(current_, most_.count());
    const std::int64_t sum = std::min(previous_ + current_, most_.count());
    previous_ = current_;
    current_ = sum;
    return Duration(base / 2 +
                    static_cast<std::int64_t>(random % static_cast<std::uint64_t>(base + 1)));
  }
  void Reset() {
    previous_ = 0;
    current_ = 1000;
  }

 private:
  Duration most_;
  std::int64_t previous_ = 0;
  std::int64_t current_ = 1000;
};

}  // namespace muster::link
