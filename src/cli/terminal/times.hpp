#pragma once

#include <string>
#include <string_view>

#include "base/instant.hpp"
#include "base/result.hpp"

namespace muster::cron {
class Zone;
}

namespace muster::cli {

// Shows moments on one stream. No command formats a moment by itself.
class Times {
 public:
  // As the API returns them: "2026-11-15T14:26:08.105Z".
  Times() = default;
  // `terminal`: in seconds by the local clock, "2026-11-15 15:26:08 CET".
  explicit Times(bool terminal) : local_(terminal) {}

  // `time` is RFC 3339 in UTC; anything else is returned unchanged, as one visible line.
  std::string Text(std::string_view time) const;
  // The same for a line of a log: with milliseconds and offset, "2026-11-15T15:26:08.105+01:00".
  std::string Stamp(std::string_view time) const;
  // `sentence` with each time of the API in it as Text shows it.
  std::string InText(std::string_view sentence) const;
  // The date alone: "2026-11-15".
  std::string Day(std::string_view time) const;

 private:
  bool local_ = false;
};

// A moment as the clocks of `zone` show it, with the offset: "2027-03-28T03:00:00+02:00". "" when
// `time` is not RFC 3339 in UTC.
std::string ZoneText(const cron::Zone& zone, std::string_view time);

// Makes UTC the local zone of this process, as TZ=UTC would. Call it before any thread starts.
void UseUtc();

// The value of a time option, as the API takes it. Accepted are RFC 3339 with Z or an offset
// ("2026-11-15T10:00:00Z"), a local time ("2026-11-15 10:00"), what Times::Text shows, and how long
// ago ("2h"). "" stays "". kInvalid names the option.
Result<std::string> Moment(std::string_view option, const std::string& text);

// The moment that a time with Z, an offset, the abbreviation of the local zone or none of them
// means. A local time that comes twice is the first; one that the clock skips is read with the
// offset before the jump. Fractions of a second are dropped. kInvalid: it is no time.
Result<WallTime> ReadMoment(std::string_view text);

// Whether `text` has Z or an offset, so that it means the same moment in every zone.
bool HasOffset(std::string_view text);

// The value of an option that says how long. kInvalid, in the option's name: it is no duration, or
// not within these bounds, which are the API's.
Result<Duration> Lasting(std::string_view option, std::string_view text, Duration least,
                         Duration most);

}  // namespace muster::cli
