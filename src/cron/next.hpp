#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/instant.hpp"
#include "cron/schedule.hpp"
#include "cron/zone.hpp"

// When a schedule is due in a zone. Pure: equal schedules and equal zone data give equal answers.
//
// Clock changes. A schedule whose hours are open (*, */n) follows the clock. Any other names fixed
// times, and a fixed time is due at the first moment at which the clock has come up to it: a time
// that is jumped over (gap) is due right after the jump, one that is shown twice (fold) the first
// time. GapRule::kSkip and FoldRule::kBoth change that.
//
// Slots are whole seconds between the years 1 and 9999; outside there are none.
namespace muster::cron {

// The first slot after `after`. Nothing allocates, and it takes bounded time also when there is
// none.
std::optional<WallTime> Next(const Schedule& schedule, const Zone& zone, WallTime after) noexcept;

// The last slot before `before`.
std::optional<WallTime> Prev(const Schedule& schedule, const Zone& zone, WallTime before) noexcept;

enum class SlotKind : std::uint8_t {
  kDue,      // as the clock shows it
  kShifted,  // due: its time was jumped over, so it runs right after the jump
  kGap,      // not due: jumped over, and either the rule is kSkip or `at` is due by itself
  kFold,     // not due: the clock shows it for the second time
};

constexpr bool IsDue(SlotKind kind) noexcept {
  return kind == SlotKind::kDue || kind == SlotKind::kShifted;
}

struct Slot {
  WallTime at;
  SlotKind kind = SlotKind::kDue;
  LocalSeconds nominal = 0;  // what the clock shows then, or would have shown; the first of `count`
  LocalSeconds last_nominal = 0;
  std::uint32_t count = 1;  // times that became this one; more than 1 only after a jump
};

// Visits, in order, everything that is due after `after` and not after `until`, and what a clock
// change kept from being due, with its reason. `visit` returns false to end. Due slots are those
// that Next gives, one by one; at one moment a kGap comes before the slot that is due.
void VisitSlots(const Schedule& schedule, const Zone& zone, WallTime after, WallTime until,
                const std::function<bool(const Slot&)>& visit);

// Slots in a row that are due as the clock shows them, or what one clock change did.
struct Stretch {
  WallTime first;
  WallTime last;
  SlotKind kind = SlotKind::kDue;  // not kFold: nothing is due then, and nothing was left out
  std::uint32_t count = 1;         // of slots; with kGap of times that were jumped over
};

// The same as VisitSlots, but slots without a clock change between them come as one stretch. It
// takes time by the changes and months in between, so that years of slots can be counted at once.
void VisitStretches(const Schedule& schedule, const Zone& zone, WallTime after, WallTime until,
                    const std::function<bool(const Stretch&)>& visit);

}  // namespace muster::cron
