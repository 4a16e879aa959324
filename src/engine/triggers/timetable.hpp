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

  // Visits the slots after `after` and not after `until`, in order, and with `gap` those that a
  // clock change left out (their time is that of the change, less a millisecond: no slot has it).
  // `visit` returns false to end.
  void Visit(WallTime after, WallTime until,
             const std::function<bool(WallTime slot, bool gap, std::uint32_t count)>& visit) const;

  // A slot beside the schedule (Trigger::asked); zero is none.
  void Ask(WallTime at) { asked_ = at; }

 private:
  struct Dark {
    cron::Schedule schedule;
    std::shared_ptr<const cron::Zone> zone;
    Duration lasts{};
  };

  std::optional<WallTime> Once() const;  // when it is within the bounds
  std::optional<WallTime> NextPlanned(WallTime after) const;
  std::optional<WallTime> PrevPlanned(WallTime before) const;
  bool CrossesChange(WallTime after, WallTime until) const;

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
