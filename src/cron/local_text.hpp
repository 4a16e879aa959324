#pragma once

#include <string>
#include <string_view>

#include "base/instant.hpp"
#include "base/result.hpp"
#include "cron/zone.hpp"

namespace muster::cron {

// RFC 3339 with the zone's offset, in whole seconds: "2027-03-28T03:00:00+02:00". UTC has "Z".
// Offsets of long ago that have seconds show them.
std::string FormatLocal(const Zone& zone, WallTime time);

// A reading without an offset: "2027-03-28T02:30:00".
std::string FormatReading(LocalSeconds reading);

// A moment as people write it: "2027-03-28T02:30:00Z", with an offset ("+02:00"), or without one as
// the zone's clock shows it; seconds and the time of day may be left out, a blank may stand for the
// T. A reading that comes twice is the first, one that does not exist is the moment of the jump.
Result<WallTime> ParseLocal(const Zone& zone, std::string_view text);

}  // namespace muster::cron
