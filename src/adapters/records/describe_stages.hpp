#pragma once

#include "adapters/records/wire_values.hpp"
#include "domain/stage.hpp"

// What a plan says of its stages.
namespace muster::records {

template <>
struct Description<HostShare> {
  static constexpr std::tuple kFields{Field(1, &HostShare::number), Field(2, &HostShare::percent)};
};

template <>
struct Description<BatchPlan> {
  static constexpr std::tuple kFields{Field(1, &BatchPlan::sizes), Field(2, &BatchPlan::add),
                                      Field(3, &BatchPlan::factor)};
};

template <>
struct Description<KeyLimit> {
  static constexpr std::tuple kFields{Field(1, &KeyLimit::key), Field(2, &KeyLimit::max)};
};

template <>
struct Description<Retries> {
  static constexpr std::tuple kFields{Field(1, &Retries::max), Field(2, &Retries::backoff)};
};

template <>
struct Description<ApproveAction> {
  static constexpr std::tuple kFields{
      Field(1, &ApproveAction::message), Field(2, &ApproveAction::by),
      Field(3, &ApproveAction::not_starter), Field(4, &ApproveAction::timeout)};
};

template <>
struct Description<WaitAction> {
  static constexpr std::tuple kFields{Field(1, &WaitAction::time), Field(2, &WaitAction::until)};
};

template <>
struct Description<HttpAction> {
  static constexpr std::tuple kFields{
      Field(1, &HttpAction::method), Field(2, &HttpAction::url),    Field(3, &HttpAction::headers),
      Field(4, &HttpAction::body),   Field(5, &HttpAction::expect), Field(6, &HttpAction::outputs),
      Field(7, &HttpAction::timeout)};
};

template <>
struct Description<NotifyAction> {
  static constexpr std::tuple kFields{Field(1, &NotifyAction::channel),
                                      Field(2, &NotifyAction::message)};
};

template <>
struct Description<JobAction> {
  static constexpr std::tuple kFields{Field(1, &JobAction::job), Field(2, &JobAction::params),
                                      Field(3, &JobAction::wait)};
};

template <>
struct Description<SequenceAction> {
  static constexpr std::tuple<> kFields{};
};

template <>
struct Description<ConditionAction> {
  static constexpr std::tuple kFields{Field(1, &ConditionAction::request),
                                      Field(2, &ConditionAction::value),
                                      Field(3, &ConditionAction::comparison, Comparison::kDiffers),
                                      Field(4, &ConditionAction::bound),
                                      Field(5, &ConditionAction::hold),
                                      Field(6, &ConditionAction::missing, MissingValue::kFiring)};
};

template <>
struct Description<StageSpec> {
  static constexpr std::tuple kFields{
      Field(1, &StageSpec::name),
      Choice(&StageSpec::action, Option<HostAction>{2}, Option<ApproveAction>{9},
             Option<WaitAction>{10}, Option<HttpAction>{11}, Option<NotifyAction>{12},
             Option<JobAction>{13}, Option<SequenceAction>{14}, Option<ConditionAction>{28}),
      Field(3, &StageSpec::concurrency),
      Field(4, &StageSpec::batches),
      Field(5, &StageSpec::max_failures),
      Field(6, &StageSpec::wait_offline),
      Field(7, &StageSpec::section, Section::kBetween),
      Field(8, &StageSpec::parent),
      Field(15, &StageSpec::hosts, HostChoice::kAll),
      Field(16, &StageSpec::when),
      Field(17, &StageSpec::needs),
      Field(18, &StageSpec::next),
      Field(19, &StageSpec::max_visits),
      Field(20, &StageSpec::recovers),
      Field(21, &StageSpec::retries),
      Field(22, &StageSpec::repeat, Repeat::kSafe),
      Field(23, &StageSpec::between_wait),
      Field(24, &StageSpec::between_approve),
      Field(25, &StageSpec::on_limit, OnLimit::kPause),
      Field(26, &StageSpec::spread),
      Field(27, &StageSpec::limits),
      Field(29, &StageSpec::max_unreachable)};
};

}  // namespace muster::records
