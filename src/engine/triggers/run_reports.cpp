#include "engine/triggers/run_reports.hpp"

#include <utility>

#include "cron/local_text.hpp"
#include "engine/runs/conditions.hpp"
#include "engine/triggers/in_memory.hpp"
#include "engine/triggers/slot_outcomes.hpp"

namespace muster::engine {
namespace {

constexpr std::size_t kMostData = 64;
constexpr std::size_t kMostDataBytes = 64 << 10;

constexpr std::string_view kPrefix = "muster.";
constexpr std::string_view kNext = "next";
constexpr std::string_view kTriggerStatus = "status";

using Words = std::map<std::string, std::string>;

// `muster.next` and `muster.status` decide when the trigger starts its next run on all hosts, so
// one host of several must not choose them.
bool NeedsAgreement(std::string_view name) { return name == kNext || name == kTriggerStatus; }

Words WordsOf(const Outputs& outputs) {
  Words words;
  for (const auto& [name, value] : outputs)
    if (name.starts_with(kPrefix)) words[name.substr(kPrefix.size())] = value;
  return words;
}

// Whether so many hosts that agree speak for a run. A host chooses by itself to be one of few that
// enter a stage: it fails, and comes to a branch for failed hosts.
bool AreMost(std::size_t hosts, const OpenRun& open) { return 2 * hosts > open.run.hosts; }

// What the hosts of a stage wrote: of data the last word of each name, of the others what every
// host that entered the stage wrote alike, if these are most of the run's.
void TakeHosts(const OpenRun& open, std::uint32_t stage, const OpenRun::Reported& reported,
               Words& spoken) {
  const auto entered = open.entered.find(stage);
  Words alike;
  std::size_t speakers = 0;
  for (std::uint32_t ordinal = 0; ordinal < open.run.hosts; ++ordinal) {
    const auto host = reported.hosts.find(ordinal);
    if (host == reported.hosts.end()) continue;
    const Words words = WordsOf(host->second);
    for (const auto& [name, value] : words)
      if (!NeedsAgreement(name)) spoken[name] = value;
    if (speakers++ == 0) alike = words;
    std::erase_if(alike, [&](const auto& item) {
      const auto same = words.find(item.first);
      return !NeedsAgreement(item.first) || same == words.end() || same->second != item.second;
    });
  }
  if (entered == open.entered.end() || entered->second.hosts.Count() != speakers ||
      !AreMost(speakers, open))
    return;
  for (auto& [name, value] : alike) spoken[name] = value;
}

// Everything that a run's stages wrote under `muster.`, the last stage's word of each name.
Words SpokenBy(const OpenRun& open) {
  Words spoken;
  for (std::uint32_t i = 0; i < open.run.stages.size(); ++i) {
    const auto reported = open.reported.find(open.run.stages[i].name);
    if (reported == open.reported.end()) continue;
    TakeHosts(open, i, reported->second, spoken);
    for (auto& [name, value] : WordsOf(reported->second.stage)) spoken[name] = value;
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
    if (name == kNext) {
      const WallTime at = MomentOf(value, turn.now.wall);
      trigger.asked = at > trigger.mark ? at : WallTime{};
      if (entry.times) entry.times->Ask(trigger.asked);
    } else if (name == kTriggerStatus) {
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
