#pragma once

#include "base/instant.hpp"

namespace muster {

// A row's number says when it was made, except that the wall clock may be set back. A clock that
// was set back by more than this hides rows of that day from a search by time.
inline constexpr Duration kClockSetBack = std::chrono::hours(24);

}  // namespace muster
