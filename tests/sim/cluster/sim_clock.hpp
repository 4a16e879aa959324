#pragma once

#include "base/instant.hpp"
#include "sim/world.hpp"

namespace muster::sim {

// A machine's two clocks. The steady one has its own beginning and runs a little fast or slow; the
// wall clock may jump.
class SimClock {
 public:
  explicit SimClock(World& world) : world_(world) { Reboot(); }

  void Reboot() {
    steady_ = {.base = world_.Between(1'000'000, 9'000'000), .ppm = world_.Between(-400, 400)};
  }
  void JumpWall(std::int64_t ms) { wall_offset_ += ms; }
  void SetRight() { wall_offset_ = kTrueWall; }

  Now Read() const {
    return {WallTime{world_.Now() + wall_offset_}, MonoTime{steady_.At(world_.Now())}};
  }

  struct Steady {
    std::int64_t base = 0;
    std::int64_t ppm = 0;
    std::int64_t At(std::int64_t true_time) const {
      return base + true_time + true_time * ppm / 1'000'000;
    }
    // The true time at which it shows `moment`.
    std::int64_t TrueTimeOf(std::int64_t moment) const {
      return (moment - base) * 1'000'000 / (1'000'000 + ppm);
    }
  };
  const Steady& steady() const { return steady_; }

  static constexpr std::int64_t kTrueWall = 1'800'000'000'000;

 private:
  World& world_;
  Steady steady_;
  std::int64_t wall_offset_ = kTrueWall;
};

}  // namespace muster::sim
