#pragma once

#include "domain/run.hpp"
#include "sim/world.hpp"

namespace muster::sim {

// What a run of a history does: a plain command, or a job of stages with batches, branches, waits,
// approvals, requests, retries, and stages that are told what earlier ones reported.
RunSpec SomeSpec(World& world);

}  // namespace muster::sim
