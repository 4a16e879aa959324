#include "base/instant.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <ctime>
#include <optional>

namespace muster {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t ms;
};
constexpr std::array<Unit, 5> kUnits{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr std::int64_t kLongest =
    3650LL * 86'400'000;  // ten years: past it a typing error is likelier

constexpr std::int64_t kLastMs = 253'402'300'799'999;  // the end of the year 9999

std::int64_t UnitMs(std::string_view name) {
  for (const auto& unit : kUnits)
    if (unit.name == name) return unit.ms;
  return 0;
}

// So many digits and what must follow them, from the front of `text`.
std::optional<int> TakeDigits(std::string_view& text, std::size_t digits, char end) {
  if (digits == 0 || text.size() <= digits || text[digits] != end) return std::nullopt;
  int number = 0;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  text.remove_prefix(digits + 1);
  return number;
}

}  // namespace

std::string FormatTime(WallTime time) {
  std::int64_t seconds = time.ms / 1000;
  std::int64_t ms = time.ms % 1000;
  if (ms < 0) {
    ms += 1000;
    --seconds;
  }
  const std::time_t when = static_cast<std::time_t>(seconds);
  std::tm parts{};
  gmtime_r(&when, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     ms);
}

WallTime ParseTime(std::string_view text) {
  const auto year = TakeDigits(text, 4, '-');
  const auto month = TakeDigits(text, 2, '-');
  const auto day = TakeDigits(text, 2, 'T');
  const auto hour = TakeDigits(text, 2, ':');
  const auto minute = TakeDigits(text, 2, ':');
  const bool fraction = text.size() > 2 && text[2] == '.';
  const auto second = TakeDigits(text, 2, fraction ? '.' : 'Z');
  if (!year || !month || !day || !hour || !minute || !second) return {};
  std::int64_t ms = 0;
  if (fraction) {
    const std::size_t digits = std::min<std::size_t>(text.find('Z'), text.size());
    const auto number = digits <= 3 ? TakeDigits(text, digits, 'Z') : std::nullopt;
    if (!number) return {};
    ms = *number * (digits == 1 ? 100 : digits == 2 ? 10 : 1);
  }
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!text.empty() || !date.ok() || *hour > 23 || *minute > 59 || *second > 60) return {};
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t time = ((days * 24 + *hour) * 60 + *minute) * 60'000 + *second * 1000 + ms;
  return {time <= kLastMs ? time
                          : 0};  // the last leap second of 9999 is beyond what can be written
}

Result<Duration> ParseDuration(std::string_view text) {
  const auto bad = [&] {
    return Fail(ErrorCode::kInvalid, "'{}' is not a duration; write for example 90s, 15m, 1h30m",
                text);
  };
  if (text.empty()) return bad();
  std::int64_t total = 0;
  std::string_view rest = text;
  while (!rest.empty()) {
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (problem != std::errc{} || number < 0) return bad();
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    std::size_t letters = 0;
    while (letters < rest.size() && std::isalpha(static_cast<unsigned char>(rest[letters])))
      ++letters;
    const bool bare = letters == 0 && rest.empty() && total == 0;
    if (bare && number == 0) return Duration(0);
    if (bare)
      return Fail(ErrorCode::kInvalid, "'{0}' has no unit; write {0}s, {0}m, {0}h or {0}d", text);
    const std::int64_t unit = UnitMs(rest.substr(0, letters));
    if (unit == 0) return bad();
    if (number > kLongest / unit)
      return Fail(ErrorCode::kInvalid, "'{}' is longer than ten years", text);
    total += number * unit;
    if (total > kLongest) return Fail(ErrorCode::kInvalid, "'{}' is longer than ten years", text);
    rest.remove_prefix(letters);
  }
  return Duration(total);
}

std::string FormatDuration(Duration duration) {
  std::int64_t ms = duration.count();
  if (ms == 0) return "0s";
  std::string out;
  if (ms < 0) {
    out = "-";
    ms = -ms;
  }
  for (const auto& unit : kUnits) {
    if (ms >= unit.ms) {
      out += fmt::format("{}{}", ms / unit.ms, unit.name);
      ms %= unit.ms;
    }
  }
  return out;
}

}  // namespace muster
