#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cron/schedule.hpp"
#include "domain/trigger.hpp"
#include "engine/triggers/zones.hpp"

namespace muster::engine {

// The slots of one trigger: its schedule in its zone, between its start and its end. A value.
class Timetable {
 public:
  // kInvalid says what is wrong with the spec: its expression, or a zone that is not known.
  static Result<Timetable> Of(const TriggerSpec& spec, WallTime applied, const Zones& zones);

  // The first slot after, and the last one before, a moment.
  std::optional<WallTime> Next(WallTime after) const;
  std::optional<WallTime> Prev(WallTime before) const;

  // Whether the schedule has a slot then, whatever a run asked for.
  bool IsPlanned(WallTime slot) const { return NextPlanned({slot.ms - 1}) == slot; }

  // When a slot is to begin: its own time and its jitter, which never reaches the next slot.
  WallTime DueAt(WallTime slot) const;

  // Whether a slot is in a blackout.
  bool InBlackout(WallTime slot) const;

  // The first slots after a moment that are in no blackout, at most so many. The search is bounded:
  // fewer come back when blackouts leave no slot for very long.
  std::vector<WallTime> Upcoming(WallTime after, std::size_t most) const;

  // Visits the slots after `after` and not after `until`, in order, and with `gap` those that a
  // clock change left out (their time is that of the change, less a millisecond: no slot has it).
  // `visit` returns false to end.
  void Visit(WallTime after, WallTime until,
             const std::function<bool(WallTime slot, bool gap, std::uint32_t count)>& visit) const;

  // The same, with slots in a row as one: it takes time by the clock changes in between, not by the
  // slots. A slot that a run asked for beside the schedule comes by itself.
  struct Stretch {
    WallTime first;
    WallTime last;
    bool gap = false;
    std::uint32_t count = 1;
  };
  void VisitStretches(WallTime after, WallTime until,
                      const std::function<void(const Stretch&)>& visit) const;

  // A slot beside the schedule (Trigger::asked); zero is none.
  void Ask(WallTime at) { asked_ = at; }

 private:
  struct Dark {
    cron::Schedule schedule;
    std::shared_ptr<const cron::Zone> zone;
    Duration lasts{};
  };

  // When the blackouts that a slot is in are over, the last of them; nothing when it is in none.
  std::optional<WallTime> BlackoutEnd(WallTime slot) const;
  std::optional<WallTime> Once() const;  // when it is within the bounds
  std::optional<WallTime> NextPlanned(WallTime after) const;
  std::optional<WallTime> PrevPlanned(WallTime before) const;
  bool CrossesChange(WallTime after, WallTime until) const;
  void VisitPlanned(WallTime after, WallTime until,
                    const std::function<void(const Stretch&)>& visit) const;

  std::string name_;
  std::optional<cron::Schedule> schedule_;
  std::shared_ptr<const cron::Zone> zone_;
  WallTime once_;
  WallTime start_;
  WallTime end_;
  WallTime asked_;
  Duration jitter_{};
  std::vector<Dark> dark_;
};

}  // namespace muster::engine
