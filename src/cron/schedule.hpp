#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "base/instant.hpp"
#include "base/result.hpp"

namespace muster::cron {

// What happens to a fixed time that the clock jumps over: it runs at the first moment after the
// jump, or not at all.
enum class GapRule : std::uint8_t { kFirst, kSkip };

// What happens to a fixed time that the clock shows twice: it runs the first time, or both times.
enum class FoldRule : std::uint8_t { kOnce, kBoth };

struct ParseOptions {
  // What H and ? are hashed from, usually the trigger's name. Without one they are an error.
  std::string_view seed;
  // Day of month and day of week must both hold. Otherwise either will do when both are restricted.
  bool both_days = false;
  GapRule gap = GapRule::kFirst;
  FoldRule fold = FoldRule::kOnce;
  // Where the grid of `@every` starts: its slots are this moment and whole intervals before and
  // after it. Taken in whole seconds.
  WallTime anchor;
};

// The two day fields as written. Bit n of a day of month is day n, of a weekday 0 is Sunday.
struct DayFields {
  std::uint32_t days = 0;
  std::uint32_t nearest = 0;         // bit n: the working day nearest to day n (nW)
  std::uint32_t from_last = 0;       // bit n: n days before the last (L, L-n)
  std::uint32_t from_last_near = 0;  // bit n: the working day nearest to that (LW, L-nW)
  std::uint8_t weekdays = 0;
  std::array<std::uint8_t, 7> nth{};  // of each weekday: bit n, the nth of the month (mon#2)
  std::uint8_t last = 0;              // the last such weekday of the month (friL)
  // Vixie's rule: a field that begins with * restricts nothing, so the other must hold too.
  bool days_open = true;
  bool weekdays_open = true;
  bool both = false;
};

// The years of a seventh field, from kFirst on.
class Years {
 public:
  static constexpr unsigned kFirst = 1970;
  static constexpr unsigned kLast = 2099;

  void Add(unsigned year) noexcept { bits_[(year - kFirst) / 64] |= Bit(year); }
  bool Has(std::int64_t year) const noexcept {
    if (year < kFirst || year > kLast) return false;
    return (bits_[(static_cast<unsigned>(year) - kFirst) / 64] &
            Bit(static_cast<unsigned>(year))) != 0;
  }

 private:
  static constexpr std::uint64_t Bit(unsigned year) noexcept {
    return std::uint64_t{1} << (year - kFirst) % 64;
  }

  std::array<std::uint64_t, 3> bits_{};
};

// When something is due: a value, made by Parse, the same for equal text and options on every
// machine. It knows no zone; that comes with each question (next.hpp).
//
// Everything about days is worked out while parsing: a month is one of 28 kinds, by its first
// weekday and its length, and each kind has a mask of the days that are due.
struct Schedule {
  std::uint64_t seconds = 1;  // bit n: second n of the minute
  std::uint64_t minutes = 0;
  std::uint32_t hours = 0;
  std::uint16_t months = 0;  // bits 1 to 12
  // [(length - 28) * 7 + weekday of the 1st], bit n: day n.
  std::array<std::uint32_t, 28> month_days{};
  DayFields day_fields;
  std::int64_t every = 0;   // seconds; not 0 for `@every`, and then nothing above counts
  std::int64_t anchor = 0;  // seconds since 1970, of `@every`
  GapRule gap = GapRule::kFirst;
  FoldRule fold = FoldRule::kOnce;
  bool has_seconds = false;  // there were six fields, or seven
  bool has_years = false;    // there were seven; otherwise every year counts
  Years years;
  // The hours are *, */n or H/n: it follows the clock, so hours that do not exist are not due, and
  // hours that come twice are due twice.
  bool follows_clock = false;
  bool never = false;  // no day of any year is due, as in `0 0 31 2 *`
};

// What is wrong with an expression, and where.
struct ParseProblem {
  std::size_t column = 1;  // of the first character that cannot stay, counted from 1
  std::string message;     // what was expected there
};

// The expression's schedule; docs/cron.md has the language. Takes time bounded by the length of
// `text`, of which at most kMostText bytes are looked at.
std::expected<Schedule, ParseProblem> Parse(std::string_view text,
                                            const ParseOptions& options = {});

inline constexpr std::size_t kMostText = 1000;

// The problem as an error for people: "cron '61 * * * *', column 1: …".
Error ToError(std::string_view text, const ParseProblem& problem);

// The stable hash behind H and ?: FNV-1a over "SEED/FIELD", its bits mixed by the finaliser of
// splitmix64. Fields are named second, minute, hour, day, month, weekday.
std::uint64_t StableHash(std::string_view seed, std::string_view field) noexcept;

}  // namespace muster::cron
