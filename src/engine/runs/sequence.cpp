#include "engine/runs/sequence.hpp"

#include <algorithm>

#include "engine/runs/again.hpp"
#include "engine/runs/batch_text.hpp"
#include "engine/runs/dispatch.hpp"
#include "engine/runs/flow.hpp"
#include "engine/runs/stage_entry.hpp"
#include "engine/runs/stage_order.hpp"

namespace muster::engine {
namespace {

Ordinals BatchHosts(const OpenVisit& sequence) {
  const auto begin = sequence.hosts.begin();
  return Ordinals::Of({begin + sequence.record.batch_begin, begin + sequence.record.batch_end});
}

Ordinals HostsLeft(const OpenVisit& sequence) {
  return Difference(BatchHosts(sequence), sequence.record.batch_dropped);
}

// Those of them that take part in inner stage `inner`: a retried host begins where it failed.
Ordinals HostsFor(const OpenVisit& sequence, std::uint32_t inner) {
  Ordinals hosts = HostsLeft(sequence);
  const auto& begins = sequence.record.begins;
  for (std::size_t i = inner; i < begins.size(); ++i) hosts = Difference(hosts, begins[i]);
  return hosts;
}

bool IsLast(const OpenVisit& sequence) {
  return sequence.record.batch_end >= sequence.hosts.size();
}

// Why the stage does not go on, by what its batch has come to so far; "" when it may. `through`:
// the batch is, and another one would follow.
std::string WhyNot(const OpenRun& run, const OpenVisit& sequence, bool through) {
  const StageVisit& record = sequence.record;
  const std::uint32_t before =
      run.SpecOf(sequence).batches.Empty() ? ThroughBefore(run, record.stage) : 0;
  const BatchEnd end{.hosts = record.batch_end - record.batch_begin + before,
                     .succeeded = HostsLeft(sequence).Count() + before,
                     .failed = record.batch_failures,
                     .unreachable = record.batch_unreachable};
  const std::string why = WhyBatchEnds(end, LimitsOf(run, record.stage),
                                       !through || IsLast(sequence) || record.batch_accepted);
  return InBatch(why, record.batch + 1, run.SpecOf(sequence).name);
}

void StartBatch(Turn& turn, OpenRun& run, OpenVisit& sequence);
void EnterInner(Turn& turn, OpenRun& run, OpenVisit& sequence);

void End(const OpenRun& run, OpenVisit& sequence, bool limit_passed) {
  sequence.limit_passed = limit_passed;
  const StageVisit& record = sequence.record;
  const bool any = record.dropped.Count() + record.batch_dropped.Count() < sequence.hosts.size() ||
                   ThroughBefore(run, record.stage) > 0;
  sequence.ends_as = !limit_passed && any ? StageState::kSucceeded : StageState::kFailed;
}

void StopAtLimit(Turn& turn, OpenRun& run, OpenVisit& sequence, std::string reason) {
  const StageSpec& spec = run.SpecOf(sequence);
  if (spec.on_limit == OnLimit::kPause && !IsLast(sequence))
    return PauseAtLimit(turn, run, sequence, std::move(reason));
  sequence.record.reason = std::move(reason);
  End(run, sequence, true);
}

void NextSequenceBatch(Turn& turn, OpenRun& run, OpenVisit& sequence) {
  StageVisit& record = sequence.record;
  const auto hosts = static_cast<std::uint32_t>(sequence.hosts.size());
  record.dropped = Union(record.dropped, record.batch_dropped);
  ++record.batch;
  record.batch_begin = record.batch_end;
  record.batch_end = std::min(
      hosts, record.batch_begin + run.SpecOf(sequence).batches.Size(record.batch, run.run.hosts));
  StartBatch(turn, run, sequence);
}

void AfterCheck(Turn& turn, OpenRun& run, OpenVisit& sequence) {
  if (auto why = WhyNot(run, sequence, true); !why.empty())
    return StopAtLimit(turn, run, sequence, std::move(why));
  if (IsLast(sequence)) return End(run, sequence, false);
  const auto& approve = run.SpecOf(sequence).between_approve;
  if (!approve) return NextSequenceBatch(turn, run, sequence);
  sequence.record.phase = VisitPhase::kApprove;
  AskPerson(turn, run, sequence, *approve);
}

void EnterCheck(Turn& turn, OpenRun& run, OpenVisit& sequence) {
  const auto check = CheckOf(run.run.spec, sequence.record.stage);
  const Ordinals hosts = HostsLeft(sequence);
  sequence.record.phase = VisitPhase::kCheck;
  if (check && !hosts.Empty() &&
      OpenStage(turn, run, *check, {.hosts = hosts, .parent = sequence.record.visit}))
    return KeepVisit(turn, run, sequence);
  AfterCheck(turn, run, sequence);
}

// The inner stages are through with the batch.
void AfterBatch(Turn& turn, OpenRun& run, OpenVisit& sequence) {
  const Duration wait = run.SpecOf(sequence).between_wait;
  if (IsLast(sequence) || wait <= Duration::zero()) return EnterCheck(turn, run, sequence);
  sequence.record.phase = VisitPhase::kWait;
  sequence.record.until = turn.now.wall + wait;
  KeepVisit(turn, run, sequence);
  ArmVisit(turn, run, sequence, turn.now.mono + wait);
}

void EnterInner(Turn& turn, OpenRun& run, OpenVisit& sequence) {
  const auto inner = InnerOf(run.run.spec, sequence.record.stage);
  for (; sequence.record.inner < inner.size(); ++sequence.record.inner) {
    const std::uint32_t stage = inner[sequence.record.inner];
    const Ordinals hosts = HostsFor(sequence, sequence.record.inner);
    if (hosts.Empty()) continue;
    if (OpenStage(turn, run, stage, {.hosts = hosts, .parent = sequence.record.visit}))
      return KeepVisit(turn, run, sequence);
  }
  AfterBatch(turn, run, sequence);
}

// Whether the stage was begun before, and its first batch has hosts that it was not begun on. Only
// the first batch of a run needs no approval.
bool BeginsWithOthers(const OpenRun& run, const OpenVisit& sequence) {
  Ordinals begun;
  for (const std::uint32_t inner : InnerOf(run.run.spec, sequence.record.stage))
    if (const auto found = run.entered.find(inner); found != run.entered.end())
      begun = Union(begun, found->second.hosts);
  return !begun.Empty() && !Difference(BatchHosts(sequence), begun).Empty();
}

void StartBatch(Turn& turn, OpenRun& run, OpenVisit& sequence) {
  StageVisit& record = sequence.record;
  record.phase = VisitPhase::kWork;
  record.inner = 0;
  record.batch_dropped = {};
  record.batch_failures = record.batch_unreachable = 0;
  record.batch_accepted = false;
  TellBatch(turn, run, sequence);
  EnterInner(turn, run, sequence);
}

}  // namespace

bool IsIdle(const OpenRun& run, const OpenVisit& sequence) {
  return std::ranges::none_of(run.visits, [&](const auto& item) {
    return item.second.record.parent == sequence.record.visit;
  });
}

void OpenSequence(Turn& turn, OpenRun& run, OpenVisit& sequence, const Entry& entry) {
  StageVisit& record = sequence.record;
  const auto hosts = static_cast<std::uint32_t>(sequence.hosts.size());
  const BatchPlan& plan = run.SpecOf(sequence).batches;
  std::uint32_t size = plan.Empty() ? hosts : plan.Size(entry.batch, run.run.hosts);
  if (entry.batch_hosts > 0) size = std::min(size, entry.batch_hosts);
  record.batch = entry.batch;
  record.batch_begin = 0;
  record.batch_end = std::min(hosts, size);
  record.begins = entry.begins;
  const auto& approve = run.SpecOf(sequence).between_approve;
  const bool next = entry.batch > 0 && entry.batch_hosts == 0;
  if (approve && (next || BeginsWithOthers(run, sequence))) {
    // The batch before it is through, or the stage begins once more with other hosts; this one was
    // not approved yet. Before the first batch that is one less than 0, until it is approved.
    record.batch = entry.batch - 1;
    record.batch_end = 0;
    record.phase = VisitPhase::kApprove;
    TellBatch(turn, run, sequence);
    return AskPerson(turn, run, sequence, *approve);
  }
  StartBatch(turn, run, sequence);
}

void OnInnerEnd(Turn& turn, OpenRun& run, const StageVisit& inner) {
  OpenVisit& sequence = run.visits.at(inner.parent);
  StageVisit& record = sequence.record;
  record.touched = Union(record.touched, inner.touched);
  record.batch_dropped = Union(record.batch_dropped, inner.dropped);
  record.batch_failures += inner.counts.Failures();
  if (!run.SpecOf(sequence).batches.Empty())
    record.batch_failures += inner.counts[TaskState::kRefused];
  record.batch_unreachable += inner.counts[TaskState::kUnreachable];
  if (run.Stopping() || run.restored) {
    sequence.ends_as = run.Stopping() ? StageState::kCancelled : StageState::kFailed;
    return;
  }
  if (record.phase == VisitPhase::kCheck) return AfterCheck(turn, run, sequence);
  // What is no work on hosts (a rejected approval, a failed request) stops all of them.
  const bool failed = inner.state != StageState::kSucceeded && inner.state != StageState::kSkipped;
  const bool nobody = Difference(inner.hosts, inner.dropped).Empty();
  if (failed && !WorksOnHosts(run.run.spec.stages[inner.stage]) &&
      (inner.counts.Total() == 0 || nobody)) {
    record.reason = fmt::format("stage {}: {}", inner.name, inner.reason);
    sequence.ends_as = inner.state;
    return;
  }
  if (auto why = WhyNot(run, sequence, false); !why.empty())
    return StopAtLimit(turn, run, sequence, std::move(why));
  ++record.inner;
  EnterInner(turn, run, sequence);
}

void GoOn(Turn& turn, OpenRun& run, OpenVisit& sequence) {
  if (run.Stopping()) return;
  if (sequence.record.phase == VisitPhase::kWait) return EnterCheck(turn, run, sequence);
  if (sequence.record.phase == VisitPhase::kApprove) NextSequenceBatch(turn, run, sequence);
}

bool StoppedAtLimit(const OpenRun& run, const OpenVisit& sequence) {
  const VisitPhase phase = sequence.record.phase;
  return IsIdle(run, sequence) && !sequence.ends_as &&
         (phase == VisitPhase::kWork || phase == VisitPhase::kCheck);
}

void TakeFailures(Turn& turn, OpenRun& run, OpenVisit& sequence) {
  if (!StoppedAtLimit(run, sequence)) return;
  sequence.record.batch_failures = sequence.record.batch_unreachable = 0;
  sequence.record.batch_accepted = true;
  if (sequence.record.phase == VisitPhase::kCheck) return AfterCheck(turn, run, sequence);
  ++sequence.record.inner;
  EnterInner(turn, run, sequence);
}

}  // namespace muster::engine
