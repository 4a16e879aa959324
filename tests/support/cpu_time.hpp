#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>

namespace muster {

// Processor time of this thread, so that a busy machine does not count.
inline std::chrono::nanoseconds ThreadTime() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// How many times as long `work(4 * size)` takes as `work(size)`: about 4 when it grows with the
// size, about 16 when it grows with its square. The best of three, so that an accident of one does
// not count.
template <typename Work>
double GrowthOverFour(std::size_t size, const Work& work) {
  const auto best = [&](std::size_t of) {
    auto least = std::chrono::nanoseconds::max();
    for (int i = 0; i < 3; ++i) {
      const auto begin = ThreadTime();
      work(of);
      least = std::min(least, ThreadTime() - begin);
    }
    return static_cast<double>(least.count());
  };
  const double small = best(size);
  return best(4 * size) / small;
}

// Between the two, and far from both.
constexpr double kNotTheSquare = 9;

}  // namespace muster
