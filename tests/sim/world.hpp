#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace muster::sim {

// A broken promise. Thrown by checkers; the seed that led there replays it.
struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// True time, chance, and the order of events of one history. Everything that happens, happens in an
// event; two runs with the same seed are the same.
class World {
 public:
  World(std::uint64_t seed, bool trace) : state_(seed * 0x9E3779B97F4A7C15ULL + 1), trace_(trace) {}

  std::int64_t Now() const { return now_; }  // ms of true time

  void After(std::int64_t delay, std::function<void()> event) {
    events_.emplace(std::pair(now_ + (delay < 0 ? 0 : delay), next_++), std::move(event));
  }

  // Runs events until `until` (true time) or until there are none.
  void RunUntil(std::int64_t until) {
    while (!events_.empty() && events_.begin()->first.first <= until) {
      auto node = events_.extract(events_.begin());
      now_ = node.key().first;
      ++executed_;
      node.mapped()();
    }
    now_ = until;
  }
  std::uint64_t Executed() const { return executed_; }

  std::uint64_t Random() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  // Uniform in [low, high].
  std::int64_t Between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(Random() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool Chance(double probability) {
    return static_cast<double>(Random() >> 11) * 0x1.0p-53 < probability;
  }
  // Mostly short, sometimes long: how networks and disks really are.
  std::int64_t Delay(std::int64_t usual, std::int64_t rare) {
    return Chance(0.03) ? Between(usual, rare) : Between(0, usual);
  }

  template <typename... Args>
  void Trace(fmt::format_string<Args...> format, Args&&... args) {
    if (trace_) fmt::print("{:>8} {}\n", now_, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  std::uint64_t state_;
  bool trace_;
  std::int64_t now_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t executed_ = 0;
  std::map<std::pair<std::int64_t, std::uint64_t>, std::function<void()>> events_;
};

}  // namespace muster::sim
