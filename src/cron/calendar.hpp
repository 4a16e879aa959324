#pragma once

#include <chrono>
#include <cstdint>

namespace muster::cron {

// A reading of a clock on the wall: seconds since 1970-01-01T00:00:00 as that clock counts. The
// same reading is another instant in another zone.
using LocalSeconds = std::int64_t;

inline constexpr std::int64_t kDay = 86'400;
// The calendar repeats itself, weekdays too, after 400 years.
inline constexpr std::int64_t kCycle = 146'097 * kDay;
// 0001-01-01 and 9999-12-31T23:59:59: what can be written.
inline constexpr std::int64_t kFirstSecond = -62'135'596'800;
inline constexpr std::int64_t kLastSecond = 253'402'300'799;

constexpr std::int64_t FloorDiv(std::int64_t a, std::int64_t b) noexcept {
  return a / b - (a % b < 0 ? 1 : 0);
}

struct Date {
  int year = 1970;
  unsigned month = 1;
  unsigned day = 1;
};

constexpr Date DateOf(std::int64_t days) noexcept {
  const std::chrono::year_month_day date{
      std::chrono::sys_days(std::chrono::days(static_cast<int>(days)))};
  return {int(date.year()), unsigned(date.month()), unsigned(date.day())};
}

// Days since 1970.
constexpr std::int64_t DaysOf(const Date& date) noexcept {
  return std::chrono::sys_days(std::chrono::year_month_day(std::chrono::year(date.year),
                                                           std::chrono::month(date.month),
                                                           std::chrono::day(date.day)))
      .time_since_epoch()
      .count();
}

constexpr bool IsLeap(int year) noexcept {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

constexpr unsigned LengthOf(int year, unsigned month) noexcept {
  if (month == 2) return IsLeap(year) ? 29 : 28;
  return 30 + ((month + (month >> 3)) & 1);
}

// 0 is Sunday; 1970 began on a Thursday.
constexpr unsigned WeekdayOf(std::int64_t days) noexcept {
  return static_cast<unsigned>((days % 7 + 11) % 7);
}

}  // namespace muster::cron
