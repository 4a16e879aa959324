#pragma once

#include <algorithm>
#include <cstdint>

#include "base/instant.hpp"

namespace muster::agent {

// A bucket of tokens, one a byte: how long to wait so that no more than `rate` bytes a second pass,
// and a quarter of a second's worth at once. Reads no clock.
class Pace {
 public:
  explicit Pace(std::uint64_t rate) : rate_(rate) {}  // 0 is no limit

  // Takes `bytes` that passed just now; the wait before the next ones.
  Duration Take(std::uint64_t bytes, MonoTime now) {
    if (rate_ == 0) return {};
    const auto worth =
        static_cast<std::int64_t>(static_cast<double>(bytes) * 1e6 / static_cast<double>(rate_));
    const std::int64_t now_us = now.ms * 1000;
    free_at_us_ = std::max(free_at_us_, now_us - kBurstUs) + worth;
    return Duration(std::max<std::int64_t>(0, (free_at_us_ - now_us) / 1000));
  }

 private:
  static constexpr std::int64_t kBurstUs = 250'000;

  std::uint64_t rate_;
  std::int64_t free_at_us_ = INT64_MIN / 2;  // when all that passed is paid for
};

}  // namespace muster::agent
