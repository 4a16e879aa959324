#pragma once

#include <ctime>

#include "base/instant.hpp"

namespace muster::agent {

inline std::int64_t ReadClock(clockid_t clock) noexcept {
  struct timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

inline WallTime WallNow() noexcept { return WallTime{ReadClock(CLOCK_REALTIME)}; }

// Goes on while the machine sleeps, so a timeout that passed meanwhile is over at once.
inline MonoTime BootNow() noexcept { return MonoTime{ReadClock(CLOCK_BOOTTIME)}; }

}  // namespace muster::agent
