#pragma once

#include <string_view>

#include "engine/turn.hpp"

namespace muster::engine {

// How long a host still has to wait for its own moment within the stage's `spread`, which is a
// stable hash of job, stage and host: the same in every run.
inline Duration SpreadOf(const StageSpec& spec, const OpenRun& run, const OpenVisit& visit,
                         std::uint32_t ordinal, Now now) {
  if (spec.spread <= Duration::zero()) return Duration::zero();
  std::uint64_t hash = 1469598103934665603ULL;  // FNV-1a
  const auto add = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    hash = (hash ^ 0xff) * 1099511628211ULL;
  };
  add(run.run.spec.job);
  add(spec.name);
  add((*run.targets)[ordinal].name);
  const Duration at(
      static_cast<Duration::rep>(hash % static_cast<std::uint64_t>(spec.spread.count())));
  return at - (now.wall - visit.record.started);
}

}  // namespace muster::engine
