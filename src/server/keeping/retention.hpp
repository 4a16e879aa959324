#pragma once

#include <chrono>

#include "base/instant.hpp"

namespace muster::server {

// How long things are kept; zero is for ever.
struct Retention {
  Duration logs = std::chrono::hours(24 * 30);
  Duration runs = std::chrono::hours(24 * 180);  // with their tasks
  Duration audit = std::chrono::hours(24 * 400);
  Duration files = std::chrono::hours(24 * 30);  // that nothing names, after their last use
};

}  // namespace muster::server
