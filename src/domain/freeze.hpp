#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/instant.hpp"
#include "base/result.hpp"

namespace muster {

// What a run was started by. A person who types a command is asked to say so once more; what
// starts by itself simply waits.
enum class Origin : std::uint8_t { kPerson = 0, kTrigger = 1, kEvent = 2 };

// What a freeze holds back: runs that triggers start, runs that events start, or any.
enum class FreezeScope : std::uint8_t { kTriggers = 0, kEvents = 1, kAll = 2 };
std::string_view Name(FreezeScope scope) noexcept;
std::optional<FreezeScope> ParseFreezeScope(std::string_view text) noexcept;

// Somebody's word that no run of some kind is started for now. What runs already goes on.
struct Freeze {
  std::uint64_t id = 0;  // "f17": the number of its entry on the audit trail
  FreezeScope scope = FreezeScope::kAll;
  std::string targets;  // only runs that have such a host; "" is any
  std::string job;      // only runs of this job; "" is any
  std::string reason;
  std::string by;
  WallTime at;
  WallTime until;  // zero: until it is thawed

  bool OverAt(WallTime now) const { return until && until <= now; }
  friend bool operator==(const Freeze&, const Freeze&) = default;
};

std::string FormatFreezeId(std::uint64_t id);
Result<std::uint64_t> ParseFreezeId(std::string_view text);

// "f3 (all runs on 'zone=sh1', by ann until 2026-03-01T14:00:00Z): move of the switches"
std::string Describe(const Freeze& freeze);

}  // namespace muster
