#include "base/instant.hpp"

#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <ctime>

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

std::int64_t UnitMs(std::string_view name) {
  for (const auto& unit : kUnits)
    if (unit.name == name) return unit.ms;
  return 0;
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
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int fraction = 0;
  const std::string copy(text);
  if (!copy.ends_with('Z') || std::sscanf(copy.c_str(), "%4d-%2u-%2uT%2d:%2d:%2d.%3d", &year,
                                          &month, &day, &hour, &minute, &second, &fraction) < 6)
    return {};
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return {};
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return {((days * 24 + hour) * 60 + minute) * 60'000 + second * 1000 + fraction};
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
    const std::int64_t unit = bare ? 1000 : UnitMs(rest.substr(0, letters));
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
