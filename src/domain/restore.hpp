#pragma once

#include <algorithm>
#include <cstdint>

#include "base/instant.hpp"
#include "domain/ids.hpp"

namespace muster {

// How far a restore leaps ahead of its backup. Hosts have obeyed terms, and callers have seen run
// ids and commit numbers, that the backup does not know; none of them may come again.
struct RestoreLeap {
  std::uint64_t term = 0;  // added to the term and to the commit number
  std::uint64_t id_space = 0;
};

constexpr std::uint64_t kLargestIdSpace = 0xFFFF;

// One leap for the restore itself and one for each minute since the backup, so that a second
// restore of the same backup lies above the first. The id space has 16 bits and so counts hours
// when the backup is older than a month; 0 when there is none left.
constexpr RestoreLeap LeapOf(std::uint64_t id_space, WallTime taken, WallTime now) {
  const auto minutes =
      static_cast<std::uint64_t>(std::max<std::int64_t>((now.ms - taken.ms) / 60'000, 0));
  constexpr std::uint64_t kMonth = 30 * 24 * 60;
  const std::uint64_t spaces = 1 + (minutes < kMonth ? minutes : kMonth + minutes / 60);
  return {.term = (1 + minutes) << 32,
          .id_space = id_space + spaces <= kLargestIdSpace ? spaces : 0};
}

}  // namespace muster
