#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "domain/run.hpp"

namespace muster {

// Only a sequence does something between its batches, and starts one child run for each. So every
// other stage that has batches and `between`, and every `job` stage that has batches, becomes a
// sequence of one: it keeps its name, flow, batches and limits of failure, while what it does on
// hosts moves into a new stage of the same name (so that what this reports is found under it). The
// new ones stand at the end, so that no index changes. Doing it twice is doing it once.
void WrapBatched(RunSpec& spec);

// A stage as its author wrote it, by its places in the plan.
struct WrittenStage {
  std::uint32_t stage = 0;  // has its name, flow, batches and state
  std::uint32_t work = 0;   // has what it does, and its tasks: the same, or what WrapBatched made
};

// The stages of a plan in their author's order, each once. Whatever lists the stages of a plan or a
// run for people lists these.
std::vector<WrittenStage> StagesAsWritten(const RunSpec& spec);
// Of a run, whose plan may not be at hand: then by names, which no two stages of an author share.
std::vector<WrittenStage> StagesAsWritten(const Run& run);

// "roll, verify, report".
std::string NamesOfStages(const RunSpec& spec);

}  // namespace muster
