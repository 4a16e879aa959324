#include "adapters/system/system_clock.hpp"

#include <ctime>

namespace muster {
namespace {

std::int64_t ReadMs(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1000 + time.tv_nsec / 1'000'000;
}

}  // namespace

Now SystemClock::Read() const {
  return {.wall = {ReadMs(CLOCK_REALTIME)}, .mono = {ReadMs(CLOCK_BOOTTIME)}};
}

}  // namespace muster
