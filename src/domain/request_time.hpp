#pragma once

#include <chrono>

#include "base/instant.hpp"

namespace muster {

// A request that the server makes (`http`, `condition`) has so long at most: it keeps one of few
// places meanwhile.
inline constexpr Duration kMaxRequestTime = std::chrono::hours(1);

}  // namespace muster
