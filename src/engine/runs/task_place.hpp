#pragma once

#include <compare>
#include <cstdint>

#include "domain/ids.hpp"

namespace muster::engine {

// A task that is not over, wherever it stands.
struct TaskPlace {
  RunId run;
  Visit visit;
  std::uint32_t ordinal = 0;

  friend auto operator<=>(const TaskPlace&, const TaskPlace&) = default;
};

}  // namespace muster::engine
