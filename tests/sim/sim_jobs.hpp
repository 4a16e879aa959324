#pragma once

#include "domain/run.hpp"
#include "sim/world.hpp"

namespace muster::sim {

// What a run of a history does: a plain command, or a job of stages with batches, branches, waits,
// approvals, requests, retries, other runs that a stage starts and perhaps does not wait for, and
// stages that are told what earlier ones reported.
struct JobMood {
  bool crowded = false;  // much of it is under the same few keys, takes minutes and starts runs
};
RunSpec SomeSpec(World& world, const JobMood& mood);

}  // namespace muster::sim
