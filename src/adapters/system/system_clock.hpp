#pragma once

#include "ports/clock.hpp"

namespace muster {

// The kernel's clocks: CLOCK_REALTIME, and CLOCK_BOOTTIME, which counts suspended time too.
class SystemClock final : public Clock {
 public:
  Now Read() const override;
};

}  // namespace muster
