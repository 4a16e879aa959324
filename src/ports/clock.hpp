#pragma once

#include "base/instant.hpp"

namespace muster {

// The machine's clocks. Safe from any thread. `mono` goes on while the machine is suspended.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Now Read() const = 0;
};

}  // namespace muster
