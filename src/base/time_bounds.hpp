#pragma once

#include <cstdint>

// Bounds for milliseconds that come from outside: within them, sums and differences do not
// overflow.
namespace muster {

// Whether it can be a moment on any clock.
constexpr bool IsMoment(std::int64_t ms) { return 0 <= ms && ms < std::int64_t{1} << 56; }

// Whether it can lie between two moments, in either direction.
constexpr bool IsSpan(std::int64_t ms) {
  return -(std::int64_t{1} << 57) < ms && ms < std::int64_t{1} << 57;
}

}  // namespace muster
