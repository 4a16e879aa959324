#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.hpp"
#include "base/result.hpp"
#include "cron/calendar.hpp"

namespace muster::cron {

// A time between two clock changes.
struct ZoneSpan {
  std::int64_t start = 0;   // seconds since 1970 (UTC); its end is the next one's start
  std::int64_t high = 0;    // what the clock has come up to by its end, in this span or an earlier
  std::int32_t offset = 0;  // local minus UTC, in seconds
};

// A change of a zone's offset, as data files have it.
struct ZoneChange {
  std::int64_t at = 0;
  std::int32_t offset = 0;  // from then on
};

// When the clocks of a place change: an immutable value, safe from any thread. All changes up to
// the year 2560 are worked out once, when it is made; the years after repeat those 400 years
// before.
class Zone {
 public:
  static Zone Utc();

  // The zone that a TZif file (RFC 8536) describes. kInvalid says what is wrong with it.
  static Result<Zone> Read(std::string_view name, std::string_view bytes);

  // The offset before the first of `changes`, and the changes in order of time; of several at one
  // moment the last counts.
  Zone(std::string_view name, std::int32_t first_offset, std::span<const ZoneChange> changes);

  const std::string& Name() const noexcept { return name_; }
  // Local minus UTC, in seconds.
  std::int32_t OffsetAt(WallTime time) const noexcept;

  // For searches; `time` between kFirstSecond and kKnownUntil. The first span starts long before,
  // the last ends long after.
  std::span<const ZoneSpan> Spans() const noexcept { return spans_; }
  std::size_t SpanAt(std::int64_t time) const noexcept;
  // The end of a span: the start of the next.
  std::int64_t EndOf(std::size_t span) const noexcept;

 private:
  std::string name_;
  std::vector<ZoneSpan> spans_;
  std::vector<std::uint16_t> index_;  // the span at the start of each stretch of time since 1970
};

inline constexpr std::int64_t kKnownUntil = 18'618'940'800;  // 2560-01-01
// From here every zone only follows its rule, so that times after kRepeatsFrom + kCycle can be
// answered for 400 years earlier: 2100-01-01.
inline constexpr std::int64_t kRepeatsFrom = 4'102'444'800;

// The whole cycles to take from `time` so that its zone's changes are known.
constexpr std::int64_t CyclesBefore(std::int64_t time) noexcept {
  return time < kRepeatsFrom + kCycle ? 0 : (time - kRepeatsFrom) / kCycle;
}

// Reads the named zone ("Europe/Berlin") from the system's data: $TZDIR, or /usr/share/zoneinfo.
// kNotFound: there is none of that name. "UTC" needs no file.
Result<Zone> LoadZone(std::string_view name);

}  // namespace muster::cron
