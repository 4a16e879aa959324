#include "cli/triggers/trigger_text.hpp"

#include <boost/json.hpp>

#include "cli/terminal/output.hpp"
#include "cron/describe.hpp"
#include "cron/schedule.hpp"

namespace muster::cli {

cron::Zone ZoneOfTrigger(const Context& context, const boost::json::value& trigger) {
  const auto name = TextOf(FieldOf(trigger, "schedule"), "tz");
  if (name.empty() || context.utc) return cron::Zone::Utc();
  auto zone = cron::LoadZone(name);
  return zone ? std::move(*zone) : cron::Zone::Utc();
}

std::string ScheduleText(const boost::json::value& trigger) {
  const auto& schedule = FieldOf(trigger, "schedule");
  if (const auto every = TextOf(schedule, "every"); !every.empty()) return "every " + every;
  if (const auto once = TextOf(schedule, "once"); !once.empty()) return "once at " + once;
  return fmt::format("{} {}", TextOf(schedule, "cron"), TextOf(schedule, "tz"));
}

std::string ScheduleWords(const boost::json::value& trigger) {
  const auto text = TextOf(FieldOf(trigger, "schedule"), "cron");
  if (text.empty()) return "";
  const std::string name = TextOf(trigger, "name");
  const auto schedule = cron::Parse(text, {.seed = name});
  return schedule ? cron::Describe(*schedule) : "";
}

std::string Distance(WallTime then, WallTime now) {
  if (then <= now) {
    const auto waited = Ago(then, now);
    return "due, waits " + waited.substr(0, waited.find(' '));
  }
  const auto seconds = ((then - now).count() + 999) / 1000;
  if (seconds < 120) return fmt::format("in {}s", seconds);
  if (seconds < 7200) return fmt::format("in {}m", seconds / 60);
  if (seconds < 172'800) return fmt::format("in {}h", seconds / 3600);
  return fmt::format("in {}d", seconds / 86'400);
}

std::string SlotTimes(const cron::Zone& zone, const boost::json::value& slot) {
  constexpr std::size_t kYear = 5;   // "2026-"
  constexpr std::size_t kDay = 11;   // "2026-11-20T"
  constexpr std::size_t kTime = 19;  // "2026-11-20T00:11:16", behind which the offset is
  const auto first = ZoneText(zone, TextOf(slot, "first"));
  const auto last = ZoneText(zone, TextOf(slot, "last"));
  if (last.empty() || last == first) return first;
  const bool alike = first.size() >= kTime && last.size() >= kTime &&
                     first.substr(kTime) == last.substr(kTime) &&
                     first.substr(0, kYear) == last.substr(0, kYear);
  if (!alike) return fmt::format("{} to {}", first, last);
  const bool same_day = first.substr(0, kDay) == last.substr(0, kDay);
  return fmt::format("{} to {}", first.substr(0, kTime), last.substr(same_day ? kDay : kYear));
}

std::string FateText(const boost::json::value& slot) {
  const auto result = TextOf(slot, "result");
  if (result == "started") return "started " + TextOf(slot, "run");
  if (result == "skipped") return "skipped: " + TextOf(slot, "why");
  const auto version = NumberOf(slot, "version");
  return version == 0 ? "no schedule from here"
                      : fmt::format("schedule of version {} from here", version);
}

}  // namespace muster::cli
