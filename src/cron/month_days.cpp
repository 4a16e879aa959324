#include "cron/month_days.hpp"

namespace muster::cron {
namespace {

constexpr unsigned kSunday = 0;
constexpr unsigned kSaturday = 6;

constexpr std::uint32_t Bit(unsigned day) noexcept { return std::uint32_t{1} << day; }

// A working day as near as can be, without leaving the month.
unsigned NearestWorkingDay(unsigned day, unsigned first, unsigned length) noexcept {
  const unsigned weekday = (first + day - 1) % 7;
  if (weekday == kSaturday) return day == 1 ? 3 : day - 1;
  if (weekday == kSunday) return day == length ? day - 2 : day + 1;
  return day;
}

std::uint32_t ByDayOfMonth(const DayFields& fields, unsigned first, unsigned length) noexcept {
  std::uint32_t due = fields.days;
  for (unsigned day = 1; day <= length; ++day) {
    const unsigned before_last = length - day;
    if (fields.nearest & Bit(day)) due |= Bit(NearestWorkingDay(day, first, length));
    if (fields.from_last & Bit(before_last)) due |= Bit(day);
    if (fields.from_last_near & Bit(before_last)) due |= Bit(NearestWorkingDay(day, first, length));
  }
  return due;
}

std::uint32_t ByWeekday(const DayFields& fields, unsigned first, unsigned length) noexcept {
  std::uint32_t due = 0;
  for (unsigned day = 1; day <= length; ++day) {
    const unsigned weekday = (first + day - 1) % 7;
    const bool is_last = day + 7 > length;
    if ((fields.weekdays & Bit(weekday)) || (fields.nth[weekday] & Bit((day - 1) / 7 + 1)) ||
        (is_last && (fields.last & Bit(weekday))))
      due |= Bit(day);
  }
  return due;
}

}  // namespace

std::uint32_t DaysDue(const DayFields& fields, unsigned first, unsigned length) noexcept {
  const std::uint32_t month = (Bit(length) - 1) * 2;  // days 1 to length
  const std::uint32_t days = ByDayOfMonth(fields, first, length);
  const std::uint32_t weekdays = ByWeekday(fields, first, length);
  const bool both = fields.both || fields.days_open || fields.weekdays_open;
  return month & (both ? days & weekdays : days | weekdays);
}

std::array<std::uint32_t, 28> AllMonthKinds(const DayFields& fields) noexcept {
  std::array<std::uint32_t, 28> kinds{};
  for (unsigned length = 28; length <= 31; ++length)
    for (unsigned first = 0; first < 7; ++first)
      kinds[(length - 28) * 7 + first] = DaysDue(fields, first, length);
  return kinds;
}

}  // namespace muster::cron
