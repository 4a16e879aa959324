#include "cli/terminal/times.hpp"

#include <cstdlib>
#include <ctime>
#include <optional>
#include <utility>

#include "base/visible.hpp"
#include "cli/terminal/output.hpp"
#include "cron/calendar.hpp"
#include "cron/local_text.hpp"

namespace muster::cli {
namespace {

constexpr std::size_t kDateLength = 10;  // "2026-11-15"

std::int64_t SecondsOf(WallTime time) { return cron::FloorDiv(time.ms, 1000); }

// What the local clock shows; nothing for a year that the C library cannot express.
std::optional<std::tm> LocalClock(std::int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm clock{};
  if (localtime_r(&time, &clock) == nullptr) return std::nullopt;
  return clock;
}

std::string Reading(const std::tm& clock, char between) {
  return fmt::format("{:04}-{:02}-{:02}{}{:02}:{:02}:{:02}", clock.tm_year + 1900, clock.tm_mon + 1,
                     clock.tm_mday, between, clock.tm_hour, clock.tm_min, clock.tm_sec);
}

// "+01:00"
std::string OffsetText(const std::tm& clock) {
  const auto size = std::abs(clock.tm_gmtoff) / 60;
  return fmt::format("{}{:02}:{:02}", clock.tm_gmtoff < 0 ? '-' : '+', size / 60, size % 60);
}

// The moment at which the local clock shows `reading`: the first of two, or the one whose zone has
// the abbreviation `zone`.
std::optional<WallTime> MomentOf(cron::LocalSeconds reading, std::string_view zone) {
  const auto before = LocalClock(reading - cron::kDay);
  const auto after = LocalClock(reading + cron::kDay);
  if (!before || !after) return std::nullopt;
  for (const auto offset : {before->tm_gmtoff, after->tm_gmtoff}) {
    const auto clock = LocalClock(reading - offset);
    if (clock && clock->tm_gmtoff == offset && (zone.empty() || zone == clock->tm_zone))
      return WallTime{(reading - offset) * 1000};
  }
  if (!zone.empty()) return std::nullopt;
  return WallTime{(reading - before->tm_gmtoff) * 1000};
}

}  // namespace

std::string Times::Text(std::string_view time) const {
  const WallTime at = ParseTime(time);
  const auto clock = local_ && at ? LocalClock(SecondsOf(at)) : std::nullopt;
  if (!clock) return VisibleLine(time);
  return fmt::format("{} {}", Reading(*clock, ' '), clock->tm_zone);
}

std::string Times::Stamp(std::string_view time) const {
  const WallTime at = ParseTime(time);
  const auto clock = local_ && at ? LocalClock(SecondsOf(at)) : std::nullopt;
  if (!clock) return VisibleLine(time);
  return fmt::format("{}.{:03}{}", Reading(*clock, 'T'), at.ms - SecondsOf(at) * 1000,
                     OffsetText(*clock));
}

std::string Times::InText(std::string_view sentence) const {
  // Of these the server writes its own; those without milliseconds may be quoted from a person.
  constexpr std::size_t kLength = 24;  // "2026-11-15T14:26:08.105Z"
  std::string text;
  while (local_ && !sentence.empty()) {
    const auto mark = sentence.find('T', kDateLength);
    if (mark == std::string_view::npos) break;
    const auto begin = mark - kDateLength;
    const auto time = sentence.substr(begin, kLength);
    const bool found = time.size() == kLength && ParseTime(time);
    const auto taken = found ? begin + kLength : begin + 1;
    text += found ? fmt::format("{}{}", sentence.substr(0, begin), Text(time))
                  : std::string(sentence.substr(0, taken));
    sentence.remove_prefix(taken);
  }
  return text.append(sentence);
}

std::string Times::Day(std::string_view time) const { return Text(time).substr(0, kDateLength); }

std::string ZoneText(const cron::Zone& zone, std::string_view time) {
  const WallTime at = ParseTime(time);
  return at ? cron::FormatLocal(zone, at) : "";
}

void UseUtc() {
  setenv("TZ", "UTC", 1);
  tzset();
}

bool HasOffset(std::string_view text) {
  return text.size() > kDateLength &&
         text.find_first_of("Zz+-", kDateLength) != std::string_view::npos;
}

Result<WallTime> ReadMoment(std::string_view text) {
  const auto bad = [&] {
    return Fail(ErrorCode::kInvalid,
                "expected a time like 2026-11-15T10:00:00Z or '2026-11-15 10:00' (local); found "
                "'{}'",
                text);
  };
  std::string reading(text);
  std::string zone;
  if (const auto blank = text.rfind(' '); blank != std::string_view::npos && blank > kDateLength) {
    zone = text.substr(blank + 1);
    reading.resize(blank);
    if (zone.find(':') != std::string::npos) reading += std::exchange(zone, "");
  }
  if (const auto dot = reading.find('.'); dot != std::string::npos)
    reading.erase(dot, reading.find_first_not_of("0123456789", dot + 1) - dot);
  // Without an offset this is the reading of a clock, not yet a moment.
  const auto time = cron::ParseLocal(cron::Zone::Utc(), reading);
  if (!time || (HasOffset(reading) && !zone.empty())) return bad();
  if (HasOffset(reading) || zone == "UTC") return *time;
  const auto moment = MomentOf(SecondsOf(*time), zone);
  if (!moment) return bad();
  return *moment;
}

Result<std::string> Moment(std::string_view option, const std::string& text) {
  if (text.empty() || ParseTime(text)) return text;
  if (const auto back = ParseDuration(text)) return FormatTime({WallNow().ms - back->count()});
  const auto moment = ReadMoment(text);
  if (!moment)
    return Fail(ErrorCode::kInvalid,
                "{}: expected a time like 2026-11-15T10:00:00Z or '2026-11-15 10:00' (local), or "
                "how long ago, like 2h; found '{}'",
                option, text);
  return FormatTime(*moment);
}

Result<Duration> Lasting(std::string_view option, std::string_view text, Duration least,
                         Duration most) {
  const auto duration = ParseDuration(text);
  if (!duration) return Fail(ErrorCode::kInvalid, "{}: {}", option, duration.error().message);
  if (*duration < least || *duration > most)
    return Fail(ErrorCode::kInvalid, "{}: expected {} to {}, found '{}'", option,
                FormatDuration(least), FormatDuration(most), text);
  return *duration;
}

}  // namespace muster::cli
