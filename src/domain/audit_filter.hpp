#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "domain/audit.hpp"

namespace muster {

// Which audit entries to list. Zero and "" are no bound.
struct AuditFilter {
  std::optional<HostId> host;  // that touched this host
  std::string by;
  std::string act;
  WallTime since;           // at or after
  WallTime until;           // before
  std::uint64_t after = 0;  // numbers above it
  RunId run = {};           // about this run
};

// Whether the entry fits, as far as it says so itself: which hosts it touched, and which numbers
// are asked for, the store knows.
bool Matches(const AuditEntry& entry, const AuditFilter& filter);

// Every act that an entry can have, in order.
std::span<const std::string_view> AuditActs() noexcept;

// kInvalid names the acts when there is no such one.
Result<> CheckAct(std::string_view act);

}  // namespace muster
