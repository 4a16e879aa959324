#pragma once

#include <cstddef>
#include <vector>

#include "base/result.hpp"
#include "domain/run.hpp"

// How large a plan may be. A plan is written whole when its run starts and read whole by each new
// leader, with a copy of a script or file list for each stage that uses it.
namespace muster {

// Measured by BytesOf. Records are refused at four times as much (adapters/records), so a plan that
// is let in can always be read back.
constexpr std::size_t kMostPlanBytes = 64 << 20;

// kInvalid when the plan is larger than kMostPlanBytes.
Result<> CheckPlanBytes(const RunSpec& plan);

// kInvalid with what to do; for a plan that is refused before it is complete.
std::unexpected<Error> PlanTooLarge(const std::string& job, std::size_t bytes);

// About how much memory one use of these files takes.
std::size_t BytesOf(const std::vector<FileEntry>& files);

}  // namespace muster
