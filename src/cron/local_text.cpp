#include "cron/local_text.hpp"

#include <cstdlib>
#include <optional>

namespace muster::cron {
namespace {

std::optional<unsigned> TakeDigits(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  unsigned number = 0;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<unsigned>(c - '0');
  }
  text.remove_prefix(digits);
  return number;
}

std::optional<unsigned> TakeAfter(char before, std::string_view& text, std::size_t digits) {
  if (!text.starts_with(before)) return std::nullopt;
  text.remove_prefix(1);
  return TakeDigits(text, digits);
}

// Seconds of the day, when there is a time; nothing when it is wrong.
std::optional<std::int64_t> TakeTime(std::string_view& text) {
  const auto hour = TakeAfter(text.front(), text, 2);
  const auto minute = TakeAfter(':', text, 2);
  std::optional<unsigned> second = 0;
  if (text.starts_with(':')) second = TakeAfter(':', text, 2);
  if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 59)
    return std::nullopt;
  return (std::int64_t{*hour} * 60 + *minute) * 60 + *second;
}

std::optional<std::int64_t> TakeReading(std::string_view& text) {
  const auto year = TakeDigits(text, 4);
  const auto month = TakeAfter('-', text, 2);
  const auto day = TakeAfter('-', text, 2);
  if (!year || !month || !day || *year < 1 || *month < 1 || *month > 12 || *day < 1)
    return std::nullopt;
  const Date date{static_cast<int>(*year), *month, *day};
  if (date.day > LengthOf(date.year, date.month)) return std::nullopt;
  std::optional<std::int64_t> time = 0;
  if (text.starts_with('T') || text.starts_with('t') || text.starts_with(' '))
    time = TakeTime(text);
  if (!time) return std::nullopt;
  return DaysOf(date) * kDay + *time;
}

// Z or +hh:mm, and nothing after it.
std::optional<std::int64_t> TakeOffset(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  const bool minus = text.starts_with('-');
  const auto hours = TakeAfter(minus ? '-' : '+', text, 2);
  const auto minutes = TakeAfter(':', text, 2);
  if (!hours || !minutes || *minutes > 59 || !text.empty()) return std::nullopt;
  const std::int64_t offset = (std::int64_t{*hours} * 60 + *minutes) * 60;
  return minus ? -offset : offset;
}

// When the zone's clock first comes up to `reading`.
std::int64_t MomentOf(const Zone& zone, LocalSeconds reading) {
  const std::int64_t moved = CyclesBefore(reading) * kCycle;
  const auto spans = zone.Spans();
  std::size_t span = 0;
  while (reading - moved >= spans[span].high) ++span;
  return std::max(spans[span].start, reading - moved - spans[span].offset) + moved;
}

}  // namespace

std::string FormatReading(LocalSeconds reading) {
  const std::int64_t days = FloorDiv(reading, kDay);
  const Date date = DateOf(days);
  const std::int64_t time = reading - days * kDay;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", date.year, date.month, date.day,
                     time / 3600, time / 60 % 60, time % 60);
}

std::string FormatLocal(const Zone& zone, WallTime time) {
  const std::int32_t offset = zone.OffsetAt(time);
  const auto reading = FormatReading(FloorDiv(time.ms, 1000) + offset);
  if (zone.Name() == "UTC") return reading + "Z";
  const int size = std::abs(offset);
  auto text =
      fmt::format("{}{}{:02}:{:02}", reading, offset < 0 ? '-' : '+', size / 3600, size / 60 % 60);
  if (size % 60 != 0) text += fmt::format(":{:02}", size % 60);
  return text;
}

Result<WallTime> ParseLocal(const Zone& zone, std::string_view text) {
  std::string_view rest = text;
  const auto reading = TakeReading(rest);
  const auto bad = [&] {
    return Fail(ErrorCode::kInvalid,
                "expected a time like 2027-03-28T02:30:00Z, 2027-03-28T02:30+01:00, or "
                "2027-03-28 02:30 in the zone; found '{}'",
                text);
  };
  if (!reading) return bad();
  if (rest.empty()) return WallTime{MomentOf(zone, *reading) * 1000};
  const auto offset = TakeOffset(rest);
  if (!offset) return bad();
  return WallTime{(*reading - *offset) * 1000};
}

}  // namespace muster::cron
