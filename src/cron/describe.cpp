#include "cron/describe.hpp"

#include <bit>
#include <vector>

#include <fmt/format.h>

namespace muster::cron {
namespace {

constexpr std::array<std::string_view, 7> kWeekdays{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                    "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths{"January",   "February", "March",    "April",
                                                   "May",       "June",     "July",     "August",
                                                   "September", "October",  "November", "December"};
constexpr std::size_t kMostTimes = 6;  // past it a list of times is harder to read than the fields

std::string Ordinal(unsigned number) {
  const bool teen = number / 10 % 10 == 1;
  const std::string_view end = teen               ? "th"
                               : number % 10 == 1 ? "st"
                               : number % 10 == 2 ? "nd"
                               : number % 10 == 3 ? "rd"
                                                  : "th";
  return fmt::format("{}{}", number, end);
}

std::string Join(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " and " : ", ";
    text += parts[i];
  }
  return text;
}

std::vector<unsigned> Members(std::uint64_t mask) {
  std::vector<unsigned> members;
  for (; mask != 0; mask &= mask - 1)
    members.push_back(static_cast<unsigned>(std::countr_zero(mask)));
  return members;
}

// The members, with three or more neighbours as a range.
template <typename Say>
std::string Ranges(std::uint64_t mask, const Say& say) {
  const auto members = Members(mask);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < members.size();) {
    std::size_t end = i;
    while (end + 1 < members.size() && members[end + 1] == members[end] + 1) ++end;
    if (end - i >= 2) {
      parts.push_back(fmt::format("{} to {}", say(members[i]), say(members[end])));
      i = end + 1;
    } else {
      parts.push_back(say(members[i++]));
    }
  }
  return Join(parts);
}

// The step of a mask that is */n of low to high; 0 when it is none.
unsigned StepOf(std::uint64_t mask, unsigned low, unsigned high) {
  const auto members = Members(mask);
  if (members.size() < 2 || members[0] != low) return 0;
  const unsigned step = members[1] - members[0];
  for (std::size_t i = 1; i < members.size(); ++i)
    if (members[i] - members[i - 1] != step) return 0;
  return members.back() + step > high ? step : 0;
}

std::string Unit(unsigned step, std::string_view name) {
  return step == 1 ? fmt::format("every {}", name) : fmt::format("every {} {}s", step, name);
}

std::string Numbers(std::uint64_t mask) {
  return Ranges(mask, [](unsigned number) { return std::to_string(number); });
}

// "every 5 minutes", "at minute 30", "at minutes 5 and 35"
std::string Within(std::uint64_t mask, unsigned high, std::string_view name) {
  if (const unsigned step = StepOf(mask, 0, high)) return Unit(step, name);
  return fmt::format("at {}{} {}", name, std::has_single_bit(mask) ? "" : "s", Numbers(mask));
}

std::vector<std::string> ClockTimes(const Schedule& schedule) {
  std::vector<std::string> times;
  for (const unsigned hour : Members(schedule.hours))
    for (const unsigned minute : Members(schedule.minutes))
      for (const unsigned second : Members(schedule.seconds))
        times.push_back(second == 0 && std::has_single_bit(schedule.seconds)
                            ? fmt::format("{:02}:{:02}", hour, minute)
                            : fmt::format("{:02}:{:02}:{:02}", hour, minute, second));
  return times;
}

std::string Hours(const Schedule& schedule) {
  const unsigned step = StepOf(schedule.hours, 0, 23);
  if (step == 1) return "";
  if (step != 0) return fmt::format("of every {} hour", Ordinal(step));
  const auto hours =
      Ranges(schedule.hours, [](unsigned hour) { return fmt::format("{:02}", hour); });
  return fmt::format("of hour{} {}", std::has_single_bit(schedule.hours) ? "" : "s", hours);
}

std::string Times(const Schedule& schedule) {
  const auto count = std::popcount(schedule.hours) * std::popcount(schedule.minutes) *
                     std::popcount(schedule.seconds);
  const bool every_hour = StepOf(schedule.hours, 0, 23) != 0 && std::popcount(schedule.hours) > 4;
  if (!every_hour && static_cast<std::size_t>(count) <= kMostTimes)
    return "at " + Join(ClockTimes(schedule));
  std::string text;
  const bool whole_minutes = schedule.seconds == 1;
  if (!whole_minutes) text = Within(schedule.seconds, 59, "second");
  const bool all_minutes = StepOf(schedule.minutes, 0, 59) == 1;
  if (whole_minutes || !all_minutes) {
    if (!text.empty()) text += ", ";
    text += Within(schedule.minutes, 59, "minute");
  }
  auto hours = Hours(schedule);
  if (hours.empty() && whole_minutes && StepOf(schedule.minutes, 0, 59) == 0)
    hours = "of every hour";
  if (!hours.empty()) text += " " + hours;
  return text;
}

constexpr std::uint8_t kWorkdays = 0b0111110;
constexpr std::uint8_t kWeekend = 0b1000001;
constexpr std::uint8_t kAllWeek = 0b1111111;

std::string_view NthWord(unsigned n) {
  constexpr std::array<std::string_view, 6> kWords{"",      "first",  "second",
                                                   "third", "fourth", "fifth"};
  return kWords[n];
}

// "on weekdays", "on Monday and the second Friday of the month"; "" for any.
std::string Weekdays(const DayFields& fields) {
  std::vector<std::string> parts;
  if (fields.weekdays == kAllWeek) return "";
  if (fields.weekdays == kWorkdays)
    parts.emplace_back("weekdays");
  else if (fields.weekdays == kWeekend)
    parts.emplace_back("weekends");
  else if (fields.weekdays != 0)
    parts.push_back(
        Ranges(fields.weekdays, [](unsigned day) { return std::string(kWeekdays[day]); }));
  bool of_month = false;
  for (unsigned day = 0; day < 7; ++day)
    for (const unsigned n : Members(fields.nth[day])) {
      parts.push_back(fmt::format("the {} {}", NthWord(n), kWeekdays[day]));
      of_month = true;
    }
  for (const unsigned day : Members(fields.last)) {
    parts.push_back(fmt::format("the last {}", kWeekdays[day]));
    of_month = true;
  }
  return Join(parts) + (of_month ? " of the month" : "");
}

std::string BeforeLast(unsigned days) {
  if (days == 0) return "last day";
  if (days == 1) return "last day but one";
  return fmt::format("{} day before the last", Ordinal(days));
}

// "the 1st and 15th", "every 2nd day", "the last day"; "" for any.
std::string MonthDays(const DayFields& fields) {
  std::vector<std::string> parts;
  if (const unsigned step = StepOf(fields.days, 1, 31)) {
    if (step == 1) return "";
    parts.push_back(fmt::format("every {} day", Ordinal(step)));
  } else if (fields.days != 0) {
    parts.push_back("the " + Ranges(fields.days, Ordinal));
  }
  for (const unsigned day : Members(fields.nearest))
    parts.push_back(fmt::format("the working day nearest to the {}", Ordinal(day)));
  for (const unsigned back : Members(fields.from_last)) parts.push_back("the " + BeforeLast(back));
  for (const unsigned back : Members(fields.from_last_near))
    parts.push_back(back == 0 ? std::string("the last working day")
                              : "the working day nearest to the " + BeforeLast(back));
  return Join(parts);
}

std::string Days(const DayFields& fields) {
  const auto days = MonthDays(fields);
  const auto weekdays = Weekdays(fields);
  if (days.empty() && weekdays.empty()) return "";
  if (days.empty()) return " on " + weekdays;
  if (weekdays.empty()) return fmt::format(" on {} of the month", days);
  const bool both = fields.both || fields.days_open || fields.weekdays_open;
  if (both) return fmt::format(" on {} of the month if that is on {}", days, weekdays);
  return fmt::format(" on {} of the month, and on {}", days, weekdays);
}

std::string Months(std::uint16_t months) {
  if (const unsigned step = StepOf(months, 1, 12))
    return step == 1 ? "" : fmt::format(", every {} month", Ordinal(step));
  return " in " + Ranges(months, [](unsigned month) { return std::string(kMonths[month - 1]); });
}

// " in 2027 and 2030 to 2032"; "" for any.
std::string InYears(const Schedule& schedule) {
  if (!schedule.has_years) return "";
  std::vector<std::string> parts;
  for (unsigned year = Years::kFirst; year <= Years::kLast; ++year) {
    if (!schedule.years.Has(year)) continue;
    const unsigned first = year;
    while (schedule.years.Has(year + 1)) ++year;
    if (year - first >= 2) {
      parts.push_back(fmt::format("{} to {}", first, year));
    } else {
      for (unsigned one = first; one <= year; ++one) parts.push_back(std::to_string(one));
    }
  }
  return ", in " + Join(parts);
}

}  // namespace

std::string Describe(const Schedule& schedule) {
  if (schedule.every != 0)
    return fmt::format("every {}", FormatDuration(std::chrono::seconds(schedule.every)));
  const auto days = Days(schedule.day_fields);
  std::string text = Times(schedule) + days;
  if (days.empty() && text.starts_with("at ") && text.find(':') != std::string::npos)
    text += " every day";
  text += Months(schedule.months) + InYears(schedule);
  if (schedule.never) text += " (never: there is no such day)";
  return text;
}

}  // namespace muster::cron
