#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "cron/zone.hpp"

namespace muster::cron {

// The rule at the end of a TZif file, for all times after its last change:
// "CET-1CEST,M3.5.0,M10.5.0/3" (POSIX's TZ, with hours up to 167 and below 0 as RFC 8536 has them).
struct ZoneRule {
  // A day of the year, as M3.5.0 (month.week.weekday, week 5 is the last), J60 (1 to 365, without
  // 29 February) or 59 (0 to 365), and the time on it.
  struct Day {
    enum class Kind : std::uint8_t { kWeekday, kJulian, kZeroBased } kind = Kind::kWeekday;
    int month = 0;
    int week = 0;
    int day = 0;
    std::int32_t time = 7200;
  };
  std::int32_t offset = 0;
  bool changes = false;  // it has summer time
  std::int32_t summer_offset = 0;
  Day summer_from;
  Day summer_until;
};

// Nothing when the text is not such a rule.
std::optional<ZoneRule> ParseZoneRule(std::string_view text);

// Appends the rule's changes after `after`, up to kKnownUntil.
void AddChanges(const ZoneRule& rule, std::int64_t after, std::vector<ZoneChange>& changes);

}  // namespace muster::cron
