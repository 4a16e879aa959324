#pragma once

#include <cstdint>

namespace muster::documents {

// As an editor counts: both from 1, columns in characters.
struct Position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;

  friend auto operator<=>(const Position&, const Position&) = default;
};

}  // namespace muster::documents
