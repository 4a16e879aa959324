#pragma once

#include <cstddef>

namespace muster {

// How many levels of jobs there may be below a job that starts jobs. A run whose child would lie
// deeper fails; documents and plans that go deeper are refused.
inline constexpr std::size_t kDeepestJobs = 8;

// How many levels of groups there may be below a group that is made of groups. Inventories of other
// tools that are imported have at most as many (src/imports).
inline constexpr std::size_t kDeepestGroups = 32;

}  // namespace muster
