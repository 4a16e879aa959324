#pragma once

#include <cstdint>
#include <string>

namespace muster::sim {

struct Summary {
  std::uint64_t events = 0;
  std::size_t hosts = 0;
  std::size_t runs = 0;
  std::size_t processes = 0;
};

// Plays one history: hosts join, callers start and stop runs, and everything that can break breaks;
// then all is mended, and once it is quiet the promises are checked. Throws Violation when one is
// broken. With several servers they are a cluster, with a coordinator and a store they share.
Summary PlayHistory(std::uint64_t seed, int servers, bool trace);

}  // namespace muster::sim
