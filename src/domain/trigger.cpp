#include "domain/trigger.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace muster {

std::string_view Name(MissedRule rule) noexcept {
  switch (rule) {
    case MissedRule::kSkip:
      return "skip";
    case MissedRule::kLatest:
      return "latest";
    case MissedRule::kAll:
      return "all";
  }
  return "";
}

std::string_view Name(OverlapRule rule) noexcept {
  switch (rule) {
    case OverlapRule::kSkip:
      return "skip";
    case OverlapRule::kQueue:
      return "queue";
    case OverlapRule::kReplace:
      return "replace";
    case OverlapRule::kAllow:
      return "allow";
  }
  return "";
}

std::string_view Name(TriggerState state) noexcept {
  switch (state) {
    case TriggerState::kRunnable:
      return "runnable";
    case TriggerState::kRunning:
      return "running";
    case TriggerState::kPaused:
      return "paused";
    case TriggerState::kComplete:
      return "complete";
    case TriggerState::kError:
      return "error";
  }
  return "";
}

std::optional<MissedRule> ParseMissedRule(std::string_view name) noexcept {
  for (const auto rule : {MissedRule::kSkip, MissedRule::kLatest, MissedRule::kAll})
    if (Name(rule) == name) return rule;
  return std::nullopt;
}

std::optional<OverlapRule> ParseOverlapRule(std::string_view name) noexcept {
  for (const auto rule :
       {OverlapRule::kSkip, OverlapRule::kQueue, OverlapRule::kReplace, OverlapRule::kAllow})
    if (Name(rule) == name) return rule;
  return std::nullopt;
}

bool SameSlots(const TriggerSpec& a, const TriggerSpec& b) {
  return a.name == b.name && a.cron == b.cron && a.every == b.every && a.once == b.once &&
         a.tz == b.tz && a.both_days == b.both_days && a.gap == b.gap && a.fold == b.fold &&
         a.start == b.start && a.end == b.end;
}

TriggerState StateOf(const Trigger& trigger, bool open) noexcept {
  if (trigger.paused) return TriggerState::kPaused;
  if (trigger.failed) return TriggerState::kError;
  if (open) return TriggerState::kRunning;
  if (trigger.complete || (!trigger.next && !trigger.settling && !trigger.backfill))
    return TriggerState::kComplete;
  return TriggerState::kRunnable;
}

std::uint64_t& TriggerCounts::Of(TriggerState state) noexcept {
  switch (state) {
    case TriggerState::kPaused:
      return paused;
    case TriggerState::kComplete:
      return complete;
    case TriggerState::kError:
      return error;
    case TriggerState::kRunnable:
    case TriggerState::kRunning:
      break;
  }
  return runnable;
}

std::optional<TriggerState> CountedAs(const Trigger& trigger) noexcept {
  if (trigger.dropped) return std::nullopt;
  return StateOf(trigger, false);
}

bool IsIdle(const Trigger& trigger) noexcept {
  if (trigger.dropped) return true;
  if (trigger.settling || trigger.backfill) return false;
  return trigger.paused || trigger.failed || trigger.complete || !trigger.next;
}

std::int64_t DueHour(const Trigger& trigger) noexcept {
  if (IsIdle(trigger)) return 0;
  if (trigger.settling || trigger.backfill) return 1;
  return std::max<std::int64_t>(1, HourOf(trigger.next));
}

std::string ByTrigger(std::string_view name) { return fmt::format("(trigger {})", name); }

}  // namespace muster
