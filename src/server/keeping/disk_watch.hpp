#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace muster::server {

// How much room a disk must have for new runs: a share of it or a size, whichever is less.
struct DiskFloor {
  std::uint64_t percent = 5;
  std::uint64_t bytes = 1ULL << 30;

  std::uint64_t Of(std::uint64_t total) const;
  std::string Text() const;
};

// "5%", "500MB", "5%,1GB" (the smaller one); "0" is no floor.
Result<DiskFloor> ParseDiskFloor(std::string_view text);

// Whether the room is low, with some slack so that it does not flicker: low below the floor, well
// again a quarter above it.
class DiskWatch {
 public:
  explicit DiskWatch(DiskFloor floor) : floor_(floor) {}

  // True when that changed.
  bool See(std::uint64_t free, std::uint64_t total);
  bool Low() const { return low_; }

 private:
  DiskFloor floor_;
  bool low_ = false;
};

}  // namespace muster::server
