#pragma once

#include <algorithm>
#include <cstddef>

namespace muster::server {

// Shares a bound on the size of all lists between them: each has room for a few entries, and the
// first ones for what is left of the bound.
class SharedRoom {
 public:
  struct Bounds {
    std::size_t all = 0;
    std::size_t most = 0;   // of one list
    std::size_t least = 0;  // that each may have
  };

  SharedRoom(Bounds bounds, std::size_t lists)
      : bounds_(bounds), left_(bounds.all - std::min(bounds.all, lists * bounds.least)) {}

  // How long the next list may be.
  std::size_t Most() const { return std::min(bounds_.most, bounds_.least + left_); }
  void Take(std::size_t size) { left_ -= std::min(left_, size - std::min(size, bounds_.least)); }

 private:
  const Bounds bounds_;
  std::size_t left_;
};

}  // namespace muster::server
