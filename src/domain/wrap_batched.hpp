#pragma once

#include "domain/run.hpp"

namespace muster {

// Only a sequence does something between its batches, and starts one child run for each. So every
// other stage that has batches and `between`, and every `job` stage that has batches, becomes a
// sequence of one: it keeps its name, flow, batches and limits of failure, while what it does on
// hosts moves into a new stage of the same name (so that what this reports is found under it). The
// new ones stand at the end, so that no index changes. Doing it twice is doing it once.
void WrapBatched(RunSpec& spec);

}  // namespace muster
