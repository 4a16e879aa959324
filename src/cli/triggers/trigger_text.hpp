#pragma once

#include <memory>
#include <string>

#include <boost/json/value.hpp>

#include "base/instant.hpp"
#include "cli/context.hpp"
#include "cron/zone.hpp"

// Triggers and slots in words.
namespace muster::cli {

// The zone in which the times of a trigger are shown: its own; UTC with --utc, or when this machine
// does not know the zone.
cron::Zone ZoneOfTrigger(const Context& context, const boost::json::value& trigger);

// "30 2 * * * Europe/Berlin", "every 5m", "once at 2027-01-01T00:00:00Z".
std::string ScheduleText(const boost::json::value& trigger);

// In plain words: "at 02:30"; "" when there are none to add.
std::string ScheduleWords(const boost::json::value& trigger);

// "in 3h", "12m ago", "now".
std::string Distance(WallTime then, WallTime now);

// The time of the slots of a row in their zone: "2026-11-20T00:11:16Z", or of several
// "2026-11-20T00:11:16 to 00:11:26Z", where the second says only what differs.
std::string SlotTimes(const cron::Zone& zone, const boost::json::value& slot);

// What became of a slot: "started r12", "skipped: missed", "schedule of version 3".
std::string FateText(const boost::json::value& slot);

}  // namespace muster::cli
