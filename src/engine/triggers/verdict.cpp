#include "engine/triggers/verdict.hpp"

#include <algorithm>

#include "engine/runs/stop.hpp"
#include "engine/triggers/in_memory.hpp"
#include "engine/triggers/slot_outcomes.hpp"

namespace muster::engine {
namespace {

using enum Verdict::Kind;

std::uint32_t MostWaiting(const TriggerSpec& spec) {
  const std::uint32_t made_up = spec.missed == MissedRule::kAll ? spec.missed_most : 1;
  if (spec.overlap == OverlapRule::kReplace) return 1;
  if (spec.overlap == OverlapRule::kQueue) return std::max(1U, spec.queue_most);
  return std::max(1U, made_up);
}

void StopOthers(Turn& turn, const TriggerEntry& entry, WallTime slot) {
  for (const RunId id : OpenRunsOf(turn.state, entry.trigger.spec.name)) {
    OpenRun& open = turn.state.runs.open.at(id);
    if (open.Stopping()) continue;
    StopWhole(turn, open,
              {.by = ByTrigger(entry.trigger.spec.name),
               .at = turn.now.wall,
               .reason = fmt::format("replaced by the run of {}", FormatTime(slot))});
  }
}

Verdict JudgeOverlap(Turn& turn, const TriggerEntry& entry, WallTime slot) {
  const TriggerSpec& spec = entry.trigger.spec;
  const auto& open = OpenRunsOf(turn.state, spec.name);
  if (open.size() < AllowedRuns(spec)) return {};
  switch (spec.overlap) {
    case OverlapRule::kReplace:
      StopOthers(turn, entry, slot);
      return {.kind = kWait};
    case OverlapRule::kQueue:
      return {.kind = kWait};
    case OverlapRule::kSkip:
    case OverlapRule::kAllow:
      break;
  }
  // What is made up for runs one after the other: nothing was open when it was due.
  if (slot <= entry.trigger.seen) return {.kind = kWait};
  return {.kind = kSkip,
          .why = why::kOverlap,
          .detail = fmt::format("run {} was open", FormatRunId(*open.begin()))};
}

// The first of the missed slots up to `last` that is made up for; nothing: none is.
std::optional<WallTime> FirstMadeUp(const Turn& turn, const TriggerEntry& entry, WallTime base,
                                    WallTime last) {
  const TriggerSpec& spec = entry.trigger.spec;
  const WallTime oldest = turn.now.wall + -spec.missed_window;
  if (spec.missed == MissedRule::kSkip || last < oldest) return std::nullopt;
  if (spec.missed == MissedRule::kLatest) {
    const auto later = entry.times->Next(last);
    if (later && entry.times->DueAt(*later) <= turn.now.wall) return std::nullopt;
    return last;
  }
  WallTime first = last;
  for (std::uint32_t left = spec.missed_most; left > 1; --left) {
    const auto earlier = entry.times->Prev(first);
    if (!earlier || *earlier <= base || *earlier < oldest) break;
    first = *earlier;
  }
  return first;
}

}  // namespace

std::uint32_t AllowedRuns(const TriggerSpec& spec) {
  return spec.overlap == OverlapRule::kAllow ? std::max(1U, spec.overlap_allowed) : 1;
}

Verdict Judge(Turn& turn, const TriggerEntry& entry, WallTime slot) {
  const Trigger& trigger = entry.trigger;
  const auto wish = std::ranges::find(trigger.skips, slot, &SkipWish::slot);
  if (wish != trigger.skips.end())
    return {
        .kind = kSkip,
        .why = why::kByHand,
        .detail = wish->reason.empty() ? wish->by : fmt::format("{}: {}", wish->by, wish->reason)};
  if (trigger.asked && slot < trigger.asked)
    return {.kind = kSkip,
            .why = why::kByHand,
            .detail = fmt::format("its last run asked for {}", FormatTime(trigger.asked))};
  if (entry.times->InBlackout(slot)) return {.kind = kSkip, .why = why::kBlackout};
  const Duration deadline = trigger.spec.deadline;
  if (deadline > Duration::zero() && turn.now.wall > entry.times->DueAt(slot) + deadline)
    return {.kind = kSkip,
            .why = why::kDeadline,
            .detail = fmt::format("it had not begun after {}", FormatDuration(deadline))};
  return JudgeOverlap(turn, entry, slot);
}

bool ChooseMissed(Turn& turn, TriggerEntry& entry) {
  Trigger& trigger = entry.trigger;
  if (trigger.seen > trigger.mark) return false;  // others wait already, and come first
  const WallTime base = trigger.mark;
  const WallTime late = turn.now.wall + -turn.state.options.missed_after;
  auto last = entry.times->Prev({turn.now.wall.ms + 1});
  while (last && *last > base && entry.times->DueAt(*last) > late) last = entry.times->Prev(*last);
  if (!last || *last <= base) return false;
  const auto first = FirstMadeUp(turn, entry, base, *last);
  const WallTime until = first ? WallTime{first->ms - 1} : *last;
  if (first) trigger.seen = *last;
  if (const auto skipped = entry.times->Next(base); skipped && *skipped <= until)
    trigger.settling = Settling{.until = until,
                                .why = std::string(why::kMissed),
                                .detail = "nobody could start it in time"};
  Keep(turn, entry);
  return true;
}

WallTime Queue(Turn& turn, TriggerEntry& entry, WallTime slot) {
  Trigger& trigger = entry.trigger;
  const Timetable& times = *entry.times;
  const WallTime late = turn.now.wall + -turn.state.options.missed_after;
  if (trigger.seen < slot) {
    trigger.seen = slot;
    Keep(turn, entry);
  }
  auto next = times.Next(trigger.seen);
  while (next && times.DueAt(*next) <= turn.now.wall && times.DueAt(*next) > late) {
    trigger.seen = *next;
    Keep(turn, entry);
    next = times.Next(*next);
  }
  std::vector<WallTime> waiting;
  times.Visit(trigger.mark, trigger.seen, [&](WallTime at, bool gap, std::uint32_t) {
    if (!gap) waiting.push_back(at);
    return waiting.size() < 100'000;
  });
  const std::size_t most = MostWaiting(trigger.spec);
  for (std::size_t i = 0; i + most < waiting.size(); ++i)
    Skip(turn, entry, waiting[i], why::kOverlap, fmt::format("more than {} waited", most));
  // Past the next slot it waits for a run to end; so does what was missed behind it.
  WallTime again = next && times.DueAt(*next) > turn.now.wall ? times.DueAt(*next) : WallTime{};
  if (trigger.spec.deadline > Duration::zero() && !waiting.empty()) {
    const WallTime first = waiting[waiting.size() > most ? waiting.size() - most : 0];
    const WallTime over = times.DueAt(first) + trigger.spec.deadline + Duration(1);
    again = again ? std::min(again, over) : over;
  }
  return again;
}

}  // namespace muster::engine
