#include "cron/local_search.hpp"

#include <bit>

namespace muster::cron {
namespace {

constexpr int kYears = 400;

template <typename Mask>
constexpr unsigned Lowest(Mask mask) noexcept {
  return static_cast<unsigned>(std::countr_zero(mask));
}

template <typename Mask>
constexpr unsigned Highest(Mask mask) noexcept {
  return static_cast<unsigned>(std::bit_width(mask)) - 1;
}

// Bits `n` and above; bits up to `n`. A mask has a bit more than n can reach, so no shift is out of
// range.
constexpr std::uint64_t From(std::uint64_t mask, unsigned n) noexcept { return mask >> n << n; }
constexpr std::uint64_t UpTo(std::uint64_t mask, unsigned n) noexcept {
  return mask & ((std::uint64_t{2} << n) - 1);
}

constexpr std::int64_t TimeOf(unsigned hour, unsigned minute, unsigned second) noexcept {
  return (std::int64_t{hour} * 60 + minute) * 60 + second;
}

constexpr std::int64_t kNoTime = -1;

std::int64_t FirstTime(const Schedule& schedule) noexcept {
  return TimeOf(Lowest(schedule.hours), Lowest(schedule.minutes), Lowest(schedule.seconds));
}

std::int64_t LastTime(const Schedule& schedule) noexcept {
  return TimeOf(Highest(schedule.hours), Highest(schedule.minutes), Highest(schedule.seconds));
}

std::int64_t NextTime(const Schedule& schedule, unsigned time) noexcept {
  const unsigned hour = time / 3600;
  const unsigned minute = time / 60 % 60;
  if (schedule.hours >> hour & 1) {
    if (schedule.minutes >> minute & 1)
      if (const auto seconds = From(schedule.seconds, time % 60))
        return TimeOf(hour, minute, Lowest(seconds));
    if (const auto minutes = From(schedule.minutes, minute + 1))
      return TimeOf(hour, Lowest(minutes), Lowest(schedule.seconds));
  }
  if (const auto hours = From(schedule.hours, hour + 1))
    return TimeOf(Lowest(hours), Lowest(schedule.minutes), Lowest(schedule.seconds));
  return kNoTime;
}

std::int64_t PrevTime(const Schedule& schedule, unsigned time) noexcept {
  const unsigned hour = time / 3600;
  const unsigned minute = time / 60 % 60;
  if (schedule.hours >> hour & 1) {
    if (schedule.minutes >> minute & 1)
      if (const auto seconds = UpTo(schedule.seconds, time % 60))
        return TimeOf(hour, minute, Highest(seconds));
    if (minute > 0)
      if (const auto minutes = UpTo(schedule.minutes, minute - 1))
        return TimeOf(hour, Highest(minutes), Highest(schedule.seconds));
  }
  if (hour > 0)
    if (const auto hours = UpTo(schedule.hours, hour - 1))
      return TimeOf(Highest(hours), Highest(schedule.minutes), Highest(schedule.seconds));
  return kNoTime;
}

// A month to look at: which it is, the day before its first, and its first weekday.
struct Month {
  int year;
  unsigned month;
  std::int64_t day_zero;
  unsigned first_weekday;

  unsigned Length() const noexcept { return LengthOf(year, month); }
};

Month MonthOf(const Date& date, std::int64_t days) noexcept {
  const unsigned back = (date.day - 1) % 7;
  return {date.year, date.month, days - date.day, (WeekdayOf(days) + 7 - back) % 7};
}

void StepForward(Month& at) noexcept {
  const unsigned length = at.Length();
  at.day_zero += length;
  at.first_weekday = (at.first_weekday + length) % 7;
  if (++at.month <= 12) return;
  at.month = 1;
  ++at.year;
}

void StepBack(Month& at) noexcept {
  if (--at.month == 0) {
    at.month = 12;
    --at.year;
  }
  const unsigned length = at.Length();
  at.day_zero -= length;
  at.first_weekday = (at.first_weekday + 35 - length) % 7;
}

template <typename Mask>
constexpr std::uint64_t Ones(Mask mask) noexcept {
  return static_cast<std::uint64_t>(std::popcount(mask));
}

// The times of one day that are due, up to one of them.
std::uint64_t TimesUpTo(const Schedule& schedule, unsigned time) noexcept {
  const unsigned hour = time / 3600;
  const unsigned minute = time / 60 % 60;
  const std::uint64_t in_minute = Ones(schedule.seconds);
  const std::uint64_t in_hour = Ones(schedule.minutes) * in_minute;
  std::uint64_t count = Ones(hour > 0 ? UpTo(schedule.hours, hour - 1) : 0) * in_hour;
  if (!(schedule.hours >> hour & 1)) return count;
  count += Ones(minute > 0 ? UpTo(schedule.minutes, minute - 1) : 0) * in_minute;
  if (!(schedule.minutes >> minute & 1)) return count;
  return count + Ones(UpTo(schedule.seconds, time % 60));
}

std::uint32_t DaysIn(const Schedule& schedule, const Month& at) noexcept {
  if (!(schedule.months >> at.month & 1)) return 0;
  if (schedule.has_years && !schedule.years.Has(at.year)) return 0;
  return schedule.month_days[(at.Length() - 28) * 7 + at.first_weekday];
}

}  // namespace

std::optional<LocalSeconds> NextLocal(const Schedule& schedule, LocalSeconds from) noexcept {
  if (schedule.never) return std::nullopt;
  const std::int64_t today = FloorDiv(from, kDay);
  const Date date = DateOf(today);
  Month at = MonthOf(date, today);
  std::uint64_t days = From(DaysIn(schedule, at), date.day);
  if (days >> date.day & 1) {
    const auto time = NextTime(schedule, static_cast<unsigned>(from - today * kDay));
    if (time != kNoTime) return today * kDay + time;
    days = From(days, date.day + 1);
  }
  for (int months = 0; days == 0; ++months) {
    if (months > kYears * 12) return std::nullopt;
    StepForward(at);
    days = DaysIn(schedule, at);
  }
  return (at.day_zero + Lowest(days)) * kDay + FirstTime(schedule);
}

std::optional<LocalSeconds> PrevLocal(const Schedule& schedule, LocalSeconds from) noexcept {
  if (schedule.never) return std::nullopt;
  const std::int64_t today = FloorDiv(from, kDay);
  const Date date = DateOf(today);
  Month at = MonthOf(date, today);
  std::uint64_t days = UpTo(DaysIn(schedule, at), date.day);
  if (days >> date.day & 1) {
    const auto time = PrevTime(schedule, static_cast<unsigned>(from - today * kDay));
    if (time != kNoTime) return today * kDay + time;
    days = UpTo(days, date.day - 1);
  }
  for (int months = 0; days == 0; ++months) {
    if (months > kYears * 12) return std::nullopt;
    StepBack(at);
    days = DaysIn(schedule, at);
  }
  return (at.day_zero + Highest(days)) * kDay + LastTime(schedule);
}

std::uint64_t CountLocal(const Schedule& schedule, LocalSeconds from, LocalSeconds last) noexcept {
  if (schedule.never || last < from) return 0;
  const std::int64_t first_day = FloorDiv(from, kDay);
  const std::int64_t last_day = FloorDiv(last, kDay);
  const Date date = DateOf(first_day);
  Month at = MonthOf(date, first_day);
  std::uint64_t days = From(DaysIn(schedule, at), date.day);
  const bool starts_due = (days >> date.day & 1) != 0;
  std::uint64_t due_days = 0;
  while (at.day_zero + at.Length() < last_day) {
    due_days += Ones(days);
    StepForward(at);
    days = DaysIn(schedule, at);
  }
  const auto day = static_cast<unsigned>(last_day - at.day_zero);
  due_days += Ones(UpTo(days, day));
  const bool ends_due = (days >> day & 1) != 0;
  constexpr unsigned kLastTime = kDay - 1;
  std::uint64_t count = due_days * TimesUpTo(schedule, kLastTime);
  // Of the first day not what is before, of the last not what is after.
  if (const auto begin = static_cast<unsigned>(from - first_day * kDay); starts_due && begin > 0)
    count -= TimesUpTo(schedule, begin - 1);
  if (ends_due)
    count -= TimesUpTo(schedule, kLastTime) -
             TimesUpTo(schedule, static_cast<unsigned>(last - last_day * kDay));
  return count;
}

}  // namespace muster::cron
