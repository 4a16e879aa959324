#include "engine/triggers/listening.hpp"

#include <utility>

#include "cron/local_text.hpp"
#include "engine/runs/conditions.hpp"
#include "engine/triggers/deciding.hpp"
#include "engine/triggers/holding.hpp"

namespace muster::engine {
namespace {

constexpr std::size_t kMostData = 64;
constexpr std::size_t kMostDataBytes = 64 << 10;

// Everything that a run's stages wrote under `muster.`, the last word of each name.
std::map<std::string, std::string> SpokenBy(const OpenRun& open) {
  constexpr std::string_view kPrefix = "muster.";
  std::map<std::string, std::string> spoken;
  const auto take = [&](const Outputs& outputs) {
    for (const auto& [name, value] : outputs)
      if (name.starts_with(kPrefix)) spoken[name.substr(kPrefix.size())] = value;
  };
  for (const auto& stage : open.run.stages) {
    const auto reported = open.reported.find(stage.name);
    if (reported == open.reported.end()) continue;
    for (std::uint32_t ordinal = 0; ordinal < open.run.hosts; ++ordinal)
      if (const auto host = reported->second.hosts.find(ordinal);
          host != reported->second.hosts.end())
        take(host->second);
    take(reported->second.stage);
  }
  return spoken;
}

// "15m" from now, or a moment. Whole seconds, as slots are.
WallTime MomentOf(const std::string& text, WallTime now) {
  WallTime at;
  if (const auto moment = cron::ParseLocal(cron::Zone::Utc(), text))
    at = *moment;
  else if (const auto wait = ParseDuration(text))
    at = now + *wait;
  return at > now ? WallTime{(at.ms + 999) / 1000 * 1000} : WallTime{};
}

// What the next runs are handed is bounded; what does not fit is not taken.
void TakeData(CarriedData& data, const std::string& name, const std::string& value) {
  if (name.starts_with(kConditionData)) return;  // the engine's own
  if (value.empty()) {
    data.erase(name);
    return;
  }
  std::size_t names = 1;
  std::size_t bytes = name.size() + value.size();
  for (const auto& [other, text] : data) {
    if (other == name || other.starts_with(kConditionData)) continue;
    ++names;
    bytes += other.size() + text.size();
  }
  if (names <= kMostData && bytes <= kMostDataBytes) data[name] = value;
}

}  // namespace

void Listen(Turn& turn, TriggerEntry& entry, const OpenRun& open) {
  Trigger& trigger = entry.trigger;
  constexpr std::string_view kData = "data.";
  CarriedData data = trigger.data;
  for (const auto& [name, value] : SpokenBy(open)) {
    if (name.starts_with(kData)) {
      TakeData(data, name.substr(kData.size()), value);
      continue;
    }
    if (name == "next") {
      const WallTime at = MomentOf(value, turn.now.wall);
      trigger.asked = at > trigger.mark ? at : WallTime{};
      if (entry.times) entry.times->Ask(trigger.asked);
    } else if (name == "status") {
      trigger.status = value;
      const bool complete = value == "complete";
      if (std::exchange(trigger.complete, complete) != complete)
        NoteSchedule(turn, entry, complete ? 0 : trigger.version,
                     complete ? "complete" : "not complete after all");
    } else {
      continue;
    }
    Keep(turn, entry);
  }
  CarryConditions(open, data);
  if (data == trigger.data) return;
  trigger.data = std::move(data);
  Keep(turn, entry);
}

}  // namespace muster::engine
