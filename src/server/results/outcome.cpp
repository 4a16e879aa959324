#include "server/results/outcome.hpp"

#include <algorithm>

namespace muster::server {

Digest Digest::Of(std::string_view sha256) {
  Digest digest;
  if (sha256.size() != digest.bytes.size()) return digest;
  std::ranges::copy(sha256, digest.bytes.begin());
  digest.known = true;
  return digest;
}

std::string Digest::Bytes() const {
  return known ? std::string(bytes.data(), bytes.size()) : std::string();
}

Outcome OutcomeOf(const TaskRecord& record) {
  Outcome outcome;
  outcome.state = record.state;
  if (record.state == TaskState::kUnreachable && record.sent) outcome.state = TaskState::kQueued;
  if (!IsFinal(outcome.state)) return outcome;
  const auto& end = record.end;
  outcome.exit_code = end ? end->exit_code : 0;
  outcome.signal = end ? end->signal : 0;
  outcome.reason = end && !end->reason.empty() ? end->reason : record.reason;
  if (record.log.state == LogState::kCut || record.log.state == LogState::kGap)
    outcome.log = record.log.state;
  outcome.stdout_sha256 = Digest::Of(record.log.stdout_sha256);
  outcome.stderr_sha256 = Digest::Of(record.log.stderr_sha256);
  return outcome;
}

Outcome Masked(Outcome exact, const LogMark& log) {
  const Digest masked = Digest::Of(log.masked_sha256);
  if (!masked.known || !IsFinal(exact.state)) return exact;
  exact.stdout_sha256 = {};
  exact.stderr_sha256 = {};
  exact.masked_sha256 = masked;
  return exact;
}

}  // namespace muster::server
