#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace muster {

using Duration = std::chrono::milliseconds;

// A moment on the calendar, in milliseconds since 1970 (UTC). For people and records; it may jump.
struct WallTime {
  std::int64_t ms = 0;

  friend constexpr auto operator<=>(const WallTime&, const WallTime&) = default;
  friend constexpr WallTime operator+(WallTime t, Duration d) { return {t.ms + d.count()}; }
  friend constexpr Duration operator-(WallTime a, WallTime b) { return Duration(a.ms - b.ms); }
  constexpr explicit operator bool() const noexcept { return ms != 0; }
};

// A moment on this machine's own steady clock, in milliseconds from an arbitrary start. Deadlines
// are kept in it: it never jumps, and means nothing on another machine or after a restart.
struct MonoTime {
  std::int64_t ms = 0;

  friend constexpr auto operator<=>(const MonoTime&, const MonoTime&) = default;
  friend constexpr MonoTime operator+(MonoTime t, Duration d) { return {t.ms + d.count()}; }
  friend constexpr Duration operator-(MonoTime a, MonoTime b) { return Duration(a.ms - b.ms); }
};

inline constexpr MonoTime kNever{INT64_MAX};

// Both clocks, read together, as they are handed to pure code.
struct Now {
  WallTime wall;
  MonoTime mono;
};

// "2026-11-15T10:43:19.123Z"
std::string FormatTime(WallTime time);

// The same back, with or without a fraction; the zone is Z. Zero for anything else.
WallTime ParseTime(std::string_view text);

// "90s", "15m", "1h30m", "250ms", "2d", or "0". kInvalid says what was expected.
Result<Duration> ParseDuration(std::string_view text);

// "1h30m", "15s", "250ms": the shortest exact form.
std::string FormatDuration(Duration duration);

}  // namespace muster
