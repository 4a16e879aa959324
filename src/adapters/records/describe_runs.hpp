#pragma once

#include "adapters/records/describe_stages.hpp"
#include "domain/records.hpp"
#include "domain/run_row.hpp"

// Runs: their plans, rows, visits, and what of a task attempt is not a column of its own.
namespace muster::records {

template <>
struct Description<Param> {
  static constexpr std::tuple kFields{Field(1, &Param::name), Field(2, &Param::value),
                                      Field(3, &Param::secret)};
};

// What a parameter accepts; the rest of a specification belongs to its document.
template <>
struct Description<ParamSpec> {
  static constexpr std::tuple kFields{Field(1, &ParamSpec::name),
                                      Field(2, &ParamSpec::type, ParamType::kSecret),
                                      Field(3, &ParamSpec::pattern), Field(4, &ParamSpec::choices)};
};

template <>
struct Description<Notice> {
  static constexpr std::tuple kFields{Field(1, &Notice::on), Field(2, &Notice::channel)};
};

// Without `jobs`: plan.cpp writes those, as several specs may share one.
template <>
struct Description<RunSpec> {
  static constexpr std::tuple kFields{
      Field(1, &RunSpec::title),       Field(2, &RunSpec::targets),
      Field(3, &RunSpec::stages),      Field(4, &RunSpec::job),
      Field(5, &RunSpec::version),     Field(6, &RunSpec::params),
      Field(7, &RunSpec::timeout),     Field(8, &RunSpec::priority, Priority::kLow),
      Field(9, &RunSpec::limits),      Field(10, &RunSpec::notices),
      Field(12, &RunSpec::left_out),   Field(13, &RunSpec::data),
      Field(14, &RunSpec::accepts),    Field(15, &RunSpec::max_hosts),
      Field(16, &RunSpec::max_percent)};
};

template <>
struct Description<StopWish> {
  static constexpr std::tuple kFields{Field(1, &StopWish::by), Field(2, &StopWish::at),
                                      Field(3, &StopWish::reason), Field(4, &StopWish::grace)};
};

template <>
struct Description<StageProgress> {
  static constexpr std::tuple kFields{
      Field(1, &StageProgress::visit),
      Field(3, &StageProgress::state, StageState::kAwaitingApproval),
      Field(4, &StageProgress::started),
      Field(5, &StageProgress::ended),
      Field(6, &StageProgress::counts),
      Field(7, &StageProgress::name),
      Field(8, &StageProgress::visits),
      Field(9, &StageProgress::hosts),
      Field(10, &StageProgress::batch),
      Field(11, &StageProgress::batches),
      Field(12, &StageProgress::reason)};
};

template <>
struct Description<Pause> {
  static constexpr std::tuple kFields{Field(1, &Pause::by), Field(2, &Pause::at),
                                      Field(3, &Pause::reason), Field(4, &Pause::release)};
};

template <>
struct Description<Override> {
  static constexpr std::tuple kFields{Field(1, &Override::stage), Field(2, &Override::concurrency),
                                      Field(3, &Override::max_failures),
                                      Field(4, &Override::max_unreachable)};
};

// The parameters of a run as its row has them: the plan has them whole.
struct RowParams {
  std::uint32_t number;
};

inline void PutOne(WireWriter& out, const RowParams& field, const Run& run, const Run&) {
  PutValue(out, field.number, RowParamsOf(run.spec.params), Plain());
}

inline bool TakeOne(const WireReader& in, const RowParams& field, Run& run, Result<>& taken) {
  if (in.Field() != field.number) return false;
  taken = TakeValue(in, Plain(), run.spec.params);
  return true;
}

// The row of a run, without its plan (domain/run_row.hpp).
template <>
struct Description<Run> {
  static constexpr std::tuple kFields{
      Field(1, &Run::id),
      Field(2, &Run::state, RunState::kCancelled),
      Field(3, &Run::pass),
      Field(4, &Run::by),
      Field(5, [](auto& run) -> auto& { return run.spec.title; }),
      Field(6, [](auto& run) -> auto& { return run.spec.targets; }),
      Field(8, &Run::hosts),
      Field(9, &Run::created),
      Field(10, &Run::ended),
      Field(11, &Run::stop),
      Field(12, &Run::reason),
      Field(13, &Run::stages),
      Field(15, [](auto& run) -> auto& { return run.spec.job; }),
      Field(16, [](auto& run) -> auto& { return run.spec.version; }),
      Field(
          17, [](auto& run) -> auto& { return run.spec.priority; }, Priority::kLow),
      Field(18, &Run::counts),
      Field(19, &Run::next_visit),
      Field(20, &Run::pause),
      Field(21, &Run::outcome, StageState::kAwaitingApproval),
      Field(22, &Run::closing),
      Field(23, &Run::used),
      Field(24, &Run::ticking),
      Field(25, &Run::overrides),
      Field(26, &Run::skips),
      Field(27, &Run::parent),
      Field(28, &Run::parent_visit),
      Field(29, &Run::trigger),
      Field(30, &Run::slot),
      Field(31, &Run::stop_commit),
      Field(32, &Run::ended_commit),
      Field(33, &Run::trace_parent),
      Field(34, &Run::starters),
      Field(35, &Run::plan_pass),
      Field(36, &Run::guarded),
      Field(37, &Run::above),
      Field(38, &Run::keys_above),
      RowParams{39}};
};

template <>
struct Description<Decision> {
  static constexpr std::tuple kFields{Field(1, &Decision::approved), Field(2, &Decision::by),
                                      Field(3, &Decision::at), Field(4, &Decision::comment)};
};

using HostsInState = std::pair<TaskState, Ordinals>;
template <>
struct Description<HostsInState> {
  static constexpr std::tuple kFields{Field(1, &HostsInState::first, TaskState::kSkipped),
                                      Field(2, &HostsInState::second)};
};

template <>
struct Description<StageVisit> {
  static constexpr std::tuple kFields{Field(1, &StageVisit::visit),
                                      Field(2, &StageVisit::stage),
                                      Field(3, &StageVisit::name),
                                      Field(4, &StageVisit::pass),
                                      Field(5, &StageVisit::parent),
                                      Field(6, &StageVisit::from),
                                      Field(7, &StageVisit::state, StageState::kAwaitingApproval),
                                      Field(8, &StageVisit::started),
                                      Field(9, &StageVisit::ended),
                                      Field(10, &StageVisit::hosts),
                                      Field(11, &StageVisit::dropped),
                                      Field(12, &StageVisit::touched),
                                      Field(13, &StageVisit::counts),
                                      Field(14, &StageVisit::status),
                                      Field(15, &StageVisit::reason),
                                      Field(16, &StageVisit::phase, VisitPhase::kApprove),
                                      Field(17, &StageVisit::batch),
                                      Field(18, &StageVisit::batch_begin),
                                      Field(19, &StageVisit::batch_end),
                                      Field(20, &StageVisit::inner),
                                      Field(21, &StageVisit::batch_dropped),
                                      Field(22, &StageVisit::batch_failures),
                                      Field(23, &StageVisit::begins),
                                      Field(24, &StageVisit::until),
                                      Field(25, &StageVisit::message),
                                      Field(26, &StageVisit::decision),
                                      Field(27, &StageVisit::child),
                                      Field(28, &StageVisit::recovers),
                                      Field(29, &StageVisit::onward, Onward::kNone),
                                      Field(30, &StageVisit::results),
                                      Field(31, &StageVisit::batch_unreachable),
                                      Field(32, &StageVisit::batch_accepted),
                                      Field(34, &StageVisit::needs),
                                      Field(35, &StageVisit::in_finally)};
};

// What is rare or never asked for by value: the node's report, reasons, hashes, marks.
template <>
struct Description<TaskRecord> {
  static constexpr std::tuple kFields{
      Field(1, &TaskRecord::end),
      Field(2, &TaskRecord::late),
      Field(3, &TaskRecord::reason),
      Field(4, &TaskRecord::stop_wished),
      HashField(5, [](auto& task) -> auto& { return task.log.stdout_sha256; }),
      HashField(6, [](auto& task) -> auto& { return task.log.stderr_sha256; }),
      HashField(9, [](auto& task) -> auto& { return task.log.masked_sha256; }),
      Field(11, &TaskRecord::surely_over),
      Field(12, &TaskRecord::doubted)};
};

}  // namespace muster::records
