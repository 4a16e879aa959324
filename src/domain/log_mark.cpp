#include "domain/log_mark.hpp"

namespace muster {
namespace {

// A sender may leave a silent stream's hash out.
const std::string& HashOrSilence(const std::string& hash) {
  return hash.empty() ? kEmptySha256 : hash;
}

}  // namespace

Result<LogMark> MarkOf(const LogTotals& totals, std::uint64_t durable_end,
                       const std::string& stdout_sha256, const std::string& stderr_sha256) {
  if (durable_end < totals.bytes)
    return Fail(ErrorCode::kConflict, "output is durable up to byte {} of {}", durable_end,
                totals.bytes);
  if (durable_end > totals.bytes)
    return Fail(ErrorCode::kConflict, "output of {} bytes, and the node speaks of {}", durable_end,
                totals.bytes);
  if (stdout_sha256 != HashOrSilence(totals.stdout_sha256) ||
      stderr_sha256 != HashOrSilence(totals.stderr_sha256))
    return Fail(ErrorCode::kConflict, "output of {} bytes differs from what the node sent",
                totals.bytes);
  LogState state = LogState::kComplete;
  if (totals.dropped > 0) state = LogState::kCut;
  if (totals.gap) state = LogState::kGap;
  return LogMark{.state = state,
                 .bytes = totals.bytes,
                 .stdout_sha256 = stdout_sha256,
                 .stderr_sha256 = stderr_sha256,
                 .masked_sha256 = totals.masked_sha256};
}

}  // namespace muster
