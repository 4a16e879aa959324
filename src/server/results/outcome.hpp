#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "domain/records.hpp"

namespace muster::server {

// A SHA-256, kept without a heap block of its own; `known` is false for "nobody has said".
struct Digest {
  std::array<char, 32> bytes{};
  bool known = false;

  static Digest Of(std::string_view sha256);
  std::string Bytes() const;  // 32, or "" when it is not known
  friend auto operator<=>(const Digest&, const Digest&) = default;
};

// What makes two tasks alike. Of a task that has not ended only the state counts.
struct Outcome {
  TaskState state = TaskState::kWaiting;
  int exit_code = 0;
  int signal = 0;
  std::string reason;
  LogState log = LogState::kComplete;  // or kCut, kGap: some of the output is not there
  Digest stdout_sha256;
  Digest stderr_sha256;
  Digest masked_sha256;  // instead of the two, where what differs from host to host is masked

  friend auto operator<=>(const Outcome&, const Outcome&) = default;
};

// How the row of an attempt is to be shown. An attempt that its node refused because it came too
// late is over, but its task waits for the next one: that is kQueued.
Outcome OutcomeOf(const TaskRecord& record);

// The same with the masked digest in place of the exact ones; unchanged when the node knew none.
Outcome Masked(Outcome exact, const LogMark& log);

}  // namespace muster::server
