#pragma once

#include <cstdint>

#include "adapters/postgres/options.hpp"

namespace muster::copy {

inline constexpr std::uint64_t kBetweenWords = 5000;  // rows from one word of progress to the next

// For statements that read or write whole tables. A server that is gone is still noticed, by what
// it does not acknowledge.
inline PostgresOptions PatientOptions(PostgresOptions options) {
  options.statement = std::chrono::hours(12);
  options.idle_transaction = std::chrono::hours(1);
  return options;
}

}  // namespace muster::copy
