#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "domain/trigger.hpp"

namespace muster::engine {

// What became of slots in this leadership, for those who watch it. A value of fixed size.
struct SlotTally {
  static constexpr std::array kOutcomes = {std::string_view("started"),
                                           why::kMissed,
                                           why::kOverlap,
                                           why::kPaused,
                                           why::kGap,
                                           why::kBlackout,
                                           why::kDeadline,
                                           why::kLimit,
                                           why::kFrozen,
                                           why::kRestored,
                                           why::kError,
                                           why::kByHand};
  // How late runs of the schedule were started: up to so many seconds after they were due.
  static constexpr std::array kLateBounds = {0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0, 600.0};

  std::array<std::uint64_t, kOutcomes.size()> decided{};
  std::array<std::uint64_t, kLateBounds.size() + 1> late{};  // the last: later than all of them
  Duration late_sum{};

  void Count(std::string_view outcome, std::uint64_t count) {
    const auto found = std::ranges::find(kOutcomes, outcome);
    if (found != kOutcomes.end())
      decided[static_cast<std::size_t>(found - kOutcomes.begin())] += count;
  }
  void CountLate(Duration by) {
    by = std::max(Duration::zero(), by);
    const double seconds = std::chrono::duration<double>(by).count();
    const auto bound = std::ranges::lower_bound(kLateBounds, seconds);
    ++late[static_cast<std::size_t>(bound - kLateBounds.begin())];
    late_sum += by;
  }
};

}  // namespace muster::engine
