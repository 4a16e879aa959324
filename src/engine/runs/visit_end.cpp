#include "engine/runs/visit_end.hpp"

#include <algorithm>
#include <utility>

#include "engine/limiter/limiter.hpp"
#include "engine/runs/again.hpp"
#include "engine/runs/ending.hpp"
#include "engine/runs/host_flow.hpp"
#include "engine/runs/next_stage.hpp"
#include "engine/runs/sequence.hpp"
#include "engine/runs/stage_order.hpp"

namespace muster::engine {
namespace {

constexpr std::string_view kStatus = "status";

// The status all hosts agree on, of those that said one.
std::string CommonStatus(const OpenRun& run, const StageVisit& record) {
  const auto found = run.reported.find(record.name);
  if (found == run.reported.end()) return {};
  const auto status_of = [](const Outputs& outputs) -> std::string {
    for (const auto& [name, value] : outputs)
      if (name == kStatus) return value;
    return {};
  };
  std::string common = status_of(found->second.stage);
  for (const auto& [ordinal, outputs] : found->second.hosts) {
    const std::string status = record.hosts.Contains(ordinal) ? status_of(outputs) : "";
    if (status.empty()) continue;
    if (!common.empty() && common != status) return {};
    common = status;
  }
  return common;
}

bool WasTouched(TaskState state) {
  return VerdictOf(state) == Verdict::kRan || state == TaskState::kLost;
}

// What a sequence came to on one of its hosts that it was begun for. One that did not come through,
// and that nothing failed on, was left out: no batch reached it, or its batch was left in the
// middle.
TaskState OutcomeOf(const OpenRun& run, const StageVisit& sequence, std::uint32_t ordinal) {
  if (!sequence.dropped.Contains(ordinal)) return TaskState::kSucceeded;
  const TaskState result = run.hosts[ordinal].Result();
  const bool went_wrong = IsFinal(result) && result != TaskState::kSucceeded;
  return went_wrong ? result : TaskState::kSkipped;
}

// What became of each host of a visit that ends.
void SumUp(const OpenRun& run, OpenVisit& visit, bool skipped) {
  StageVisit& record = visit.record;
  if (!visit.slots.empty()) {
    record.counts = visit.counts;
    for (std::size_t i = 0; i < kTaskStates; ++i)
      if (const auto state = static_cast<TaskState>(i); !IsFinal(state))
        record.counts[TaskState::kSkipped] += std::exchange(record.counts[state], 0);
    for (std::size_t i = 0; i < visit.hosts.size(); ++i) {
      const TaskState state = visit.slots[i].state;
      const bool never_begun = skipped && !IsFinal(state);
      if (state != TaskState::kSucceeded && !never_begun) record.dropped.Insert(visit.hosts[i]);
      if (WasTouched(state)) record.touched.Insert(visit.hosts[i]);
    }
    return;
  }
  if (!std::holds_alternative<SequenceAction>(run.SpecOf(visit).action)) return;
  record.dropped = Union(record.dropped, record.batch_dropped);
  // Past a stop or a limit, later batches were never begun.
  for (std::size_t i = record.batch_end; i < visit.hosts.size() && !skipped; ++i)
    record.dropped.Insert(visit.hosts[i]);
  Ordinals left_out;
  for (std::size_t i = 0; i < visit.hosts.size(); ++i) {
    const bool never_begun = skipped && i >= record.batch_end;
    const TaskState outcome =
        never_begun ? TaskState::kSkipped : OutcomeOf(run, record, visit.hosts[i]);
    ++record.counts[outcome];
    if (outcome == TaskState::kSkipped && !never_begun) left_out.Insert(visit.hosts[i]);
  }
  if (!left_out.Empty()) record.results = {{TaskState::kSkipped, std::move(left_out)}};
}

// Only of a stage that was skipped: all other tasks have ended.
void ForgetQueued(Turn& turn, const OpenRun& run, const StageVisit& record, std::uint32_t ordinal) {
  StopWaiting(turn, {run.run.id, record.visit, ordinal});
  const auto host = turn.state.hosts.entries.find((*run.targets)[ordinal].host);
  if (host != turn.state.hosts.entries.end())
    host->second.queued.erase({run.run.id, record.visit, ordinal});
}

void CountEnded(Turn& turn, OpenRun& run, const StageVisit& record) {
  StageProgress& progress = run.run.stages[record.stage];
  progress.state = record.state;
  progress.ended = turn.now.wall;
  progress.reason = record.reason;
  for (std::size_t i = 0; i < kTaskStates; ++i)
    progress.counts.by_state[i] += record.counts.by_state[i];
}

}  // namespace

std::string ReasonOf(const OpenRun& run, const OpenVisit& visit) {
  if (!visit.record.reason.empty()) return visit.record.reason;
  return run.restored || run.Stopping() ? std::string() : visit.passed_because;
}

void SettleHosts(OpenRun& run, const OpenVisit& visit) {
  for (std::size_t i = 0; i < visit.slots.size(); ++i) {
    if (IsFinal(visit.slots[i].state)) continue;
    run.hosts[visit.hosts[i]].Move(visit.record.visit, TaskState::kWaiting);
    CountHost(run, visit.hosts[i]);
  }
  TakeResults(run, visit.record);
  for (const auto& [state, hosts] : visit.record.results)
    for (const std::uint32_t ordinal : hosts.List()) CountHost(run, ordinal);
}

void EndVisit(Turn& turn, OpenRun& run, Visit id, StageState state, std::string reason) {
  const auto found = run.visits.find(id);
  if (found == run.visits.end()) return;
  OpenVisit visit = std::move(found->second);
  run.visits.erase(found);
  // Later stages are not for these hosts, and a retry goes on with them.
  if (!WentWell(state) && visit.record.phase == VisitPhase::kWork &&
      std::holds_alternative<SequenceAction>(run.SpecOf(visit).action))
    DropUnfinished(run, visit.record);
  SumUp(run, visit, state == StageState::kSkipped);
  SettleHosts(run, visit);
  StageVisit& record = visit.record;
  record.state = state;
  record.ended = turn.now.wall;
  record.reason = std::move(reason);
  record.status = CommonStatus(run, record);
  if (!record.status.empty()) run.reported[record.name].status = record.status;
  CountEnded(turn, run, record);
  MoveHosts(run, record);
  MarkPassed(run, record);
  NoteCourse(run, record);
  turn.Put(PutVisit{run.run.id, record});
  run.ended[record.stage] = record;
  for (std::size_t i = 0; i < visit.slots.size(); ++i)
    if (visit.slots[i].state == TaskState::kQueued) ForgetQueued(turn, run, record, visit.hosts[i]);
  if (!record.parent || !run.visits.contains(record.parent)) return Follow(turn, run, record);
  OnInnerEnd(turn, run, record);
  // In the same batch: nothing on record says that the stage around it is to end.
  if (const auto around = run.visits.find(record.parent);
      around != run.visits.end() && around->second.ends_as)
    EndVisit(turn, run, around->first, *around->second.ends_as, ReasonOf(run, around->second));
}

void EndCancelled(Turn& turn, OpenRun& run, Visit id) {
  OpenVisit visit = std::move(run.visits.at(id));
  run.visits.erase(id);
  StageVisit& record = visit.record;
  if (std::holds_alternative<SequenceAction>(run.SpecOf(visit).action) &&
      record.phase == VisitPhase::kWork)
    DropUnfinished(run, visit.record);
  SumUp(run, visit, false);
  SettleHosts(run, visit);
  record.state = StageState::kCancelled;
  record.ended = turn.now.wall;
  CountEnded(turn, run, record);
  MoveHosts(run, record);
  MarkPassed(run, record);
  NoteCourse(run, record);
  turn.Put(PutVisit{run.run.id, record});
  run.ended[record.stage] = record;
  if (const auto parent = run.visits.find(record.parent); parent != run.visits.end()) {
    auto& holder = parent->second.record;
    holder.touched = Union(holder.touched, record.touched);
    holder.batch_dropped = Union(holder.batch_dropped, record.dropped);
  }
}

}  // namespace muster::engine
