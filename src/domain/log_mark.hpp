#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "domain/log.hpp"

namespace muster {

// The final mark of an output that is durable from 0 to `durable_end` with these hashes, when the
// node says `totals`: kComplete, kCut when bytes were dropped past the quota, kGap when the node
// itself lost some. kConflict when bytes are missing, or there are others than the node speaks of.
Result<LogMark> MarkOf(const LogTotals& totals, std::uint64_t durable_end,
                       const std::string& stdout_sha256, const std::string& stderr_sha256);

}  // namespace muster
