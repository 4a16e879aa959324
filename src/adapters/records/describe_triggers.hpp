#pragma once

#include "adapters/records/field.hpp"
#include "domain/trigger.hpp"

// Triggers, and what became of their slots.
namespace muster::records {

template <>
struct Description<Blackout> {
  static constexpr std::tuple kFields{Field(1, &Blackout::cron), Field(2, &Blackout::lasts),
                                      Field(3, &Blackout::tz)};
};

template <>
struct Description<TriggerSpec> {
  static constexpr std::tuple kFields{Field(1, &TriggerSpec::name),
                                      Field(2, &TriggerSpec::cron),
                                      Field(3, &TriggerSpec::every),
                                      Field(4, &TriggerSpec::once),
                                      Field(5, &TriggerSpec::tz),
                                      Field(6, &TriggerSpec::both_days),
                                      Field(7, &TriggerSpec::gap, cron::GapRule::kSkip),
                                      Field(8, &TriggerSpec::fold, cron::FoldRule::kBoth),
                                      Field(9, &TriggerSpec::job),
                                      Field(10, &TriggerSpec::params),
                                      Field(11, &TriggerSpec::targets),
                                      Field(12, &TriggerSpec::exclude),
                                      Field(13, &TriggerSpec::start),
                                      Field(14, &TriggerSpec::end),
                                      Field(15, &TriggerSpec::missed, MissedRule::kAll),
                                      Field(16, &TriggerSpec::missed_window),
                                      Field(17, &TriggerSpec::missed_most),
                                      Field(18, &TriggerSpec::overlap, OverlapRule::kAllow),
                                      Field(19, &TriggerSpec::overlap_allowed),
                                      Field(20, &TriggerSpec::queue_most),
                                      Field(21, &TriggerSpec::jitter),
                                      Field(22, &TriggerSpec::deadline),
                                      Field(23, &TriggerSpec::blackouts),
                                      Field(24, &TriggerSpec::channel),
                                      Field(25, &TriggerSpec::constraints),
                                      Field(26, &TriggerSpec::carry)};
};

template <>
struct Description<SlotRecord> {
  static constexpr std::tuple kFields{
      Field(1, &SlotRecord::trigger), Field(2, &SlotRecord::first),
      Field(3, &SlotRecord::last),    Field(4, &SlotRecord::act),
      Field(5, &SlotRecord::count),   Field(6, &SlotRecord::fate, SlotFate::kSchedule),
      Field(7, &SlotRecord::why),     Field(8, &SlotRecord::detail),
      Field(9, &SlotRecord::run),     Field(10, &SlotRecord::at),
      Field(11, &SlotRecord::commit), Field(12, &SlotRecord::version),
      Field(13, &SlotRecord::asked)};
};

template <>
struct Description<Settling> {
  static constexpr std::tuple kFields{Field(1, &Settling::until), Field(2, &Settling::why),
                                      Field(3, &Settling::detail)};
};

template <>
struct Description<Backfill> {
  static constexpr std::tuple kFields{Field(1, &Backfill::next), Field(2, &Backfill::to),
                                      Field(3, &Backfill::act), Field(4, &Backfill::by),
                                      Field(5, &Backfill::during_freeze)};
};

template <>
struct Description<SkipWish> {
  static constexpr std::tuple kFields{Field(1, &SkipWish::slot), Field(2, &SkipWish::by),
                                      Field(3, &SkipWish::reason)};
};

// Without `dropped`, which its row says.
template <>
struct Description<Trigger> {
  static constexpr std::tuple kFields{Field(1, &Trigger::spec),
                                      Field(2, &Trigger::version),
                                      Field(3, &Trigger::applied),
                                      Field(4, &Trigger::mark),
                                      Field(5, &Trigger::next),
                                      Field(6, &Trigger::seen),
                                      Field(7, &Trigger::settling),
                                      Field(8, &Trigger::skips),
                                      Field(9, &Trigger::backfill),
                                      Field(10, &Trigger::paused),
                                      Field(11, &Trigger::paused_by),
                                      Field(12, &Trigger::reason),
                                      Field(13, &Trigger::complete),
                                      Field(14, &Trigger::asked),
                                      Field(15, &Trigger::data),
                                      Field(16, &Trigger::status),
                                      Field(17, &Trigger::failed),
                                      Field(18, &Trigger::error),
                                      Field(19, &Trigger::errors_in_a_row),
                                      Field(20, &Trigger::retry_at),
                                      Field(21, &Trigger::started),
                                      Field(22, &Trigger::skipped),
                                      Field(23, &Trigger::last_run),
                                      Field(24, &Trigger::last_slot),
                                      Field(25, &Trigger::fold),
                                      Field(26, &Trigger::hash),
                                      Field(27, &Trigger::by)};
};

}  // namespace muster::records
