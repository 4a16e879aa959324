#include "engine/runs/host_flow.hpp"

#include <algorithm>

#include "domain/approvals.hpp"
#include "engine/runs/stage_order.hpp"

namespace muster::engine {
namespace {

// Whether `inner` is the stage, or one that it holds.
bool Holds(const RunSpec& spec, std::uint32_t stage, std::uint32_t inner) {
  while (inner != stage && spec.stages[inner].parent) inner = *spec.stages[inner].parent;
  return inner == stage;
}

// Whether the inner stage a batch stands at was cut short or refused before it did anything on
// hosts: an approval that was not given, a wait, a request. Its hosts have not come through it.
bool WasCutShort(const OpenRun& run, const StageVisit& sequence, std::uint32_t inner) {
  const auto last = run.ended.find(inner);
  return last != run.ended.end() && last->second.parent == sequence.visit &&
         !WentWell(last->second.state) && last->second.counts.Total() == 0 &&
         !WorksOnHosts(run.run.spec.stages[inner]);
}

// Calls `drop` with each host of a batch that was left in the middle of its inner stages, and with
// the stage that it would go on with: the next one, or where it begins.
template <typename Drop>
void EachUnfinished(const OpenRun& run, const StageVisit& sequence, const Drop& drop) {
  const auto inner = InnerOf(run.run.spec, sequence.stage);
  if (sequence.inner >= inner.size()) return;
  const bool cut = WasCutShort(run, sequence, inner[sequence.inner]);
  const auto hosts = sequence.hosts.List();
  for (std::size_t i = sequence.batch_begin; i < sequence.batch_end && i < hosts.size(); ++i) {
    std::size_t next = sequence.inner + std::size_t{cut ? 0U : 1U};
    for (std::size_t k = 0; k < sequence.begins.size(); ++k)
      if (sequence.begins[k].Contains(hosts[i])) next = std::max(next, k + 1);
    if (next < inner.size()) drop(hosts[i], inner[next]);
  }
}

}  // namespace

void DropUnfinished(OpenRun& run, StageVisit& sequence) {
  const bool in_main = SectionOf(run.run.spec, sequence.stage) == Section::kMain;
  EachUnfinished(run, sequence, [&](std::uint32_t ordinal, std::uint32_t stage) {
    if (sequence.batch_dropped.Contains(ordinal)) return;
    sequence.batch_dropped.Insert(ordinal);
    if (in_main && run.hosts[ordinal].Ok()) run.hosts[ordinal].dropped_at = stage;
  });
}

void PlaceUnfinished(OpenRun& run, const StageVisit& sequence) {
  if (SectionOf(run.run.spec, sequence.stage) != Section::kMain) return;
  if (sequence.phase != VisitPhase::kWork || WentWell(sequence.state)) return;
  EachUnfinished(run, sequence, [&](std::uint32_t ordinal, std::uint32_t stage) {
    if (sequence.dropped.Contains(ordinal) && run.hosts[ordinal].Ok())
      run.hosts[ordinal].dropped_at = stage;
  });
}

Section SectionOf(const RunSpec& spec, std::uint32_t stage) {
  const StageSpec& one = spec.stages[stage];
  return one.parent ? SectionOf(spec, *one.parent) : one.section;
}

void MoveHosts(OpenRun& run, const StageVisit& ended) {
  if (SectionOf(run.run.spec, ended.stage) != Section::kMain) return;
  if (ended.counts.Total() == 0) return;  // it was not about hosts
  for (const std::uint32_t ordinal : ended.hosts.List()) {
    HostFlow& host = run.hosts[ordinal];
    if (!ended.dropped.Contains(ordinal)) {
      if (!host.Ok() && Holds(run.run.spec, ended.stage, host.dropped_at))
        host.dropped_at = HostFlow::kNowhere;
    } else if (host.Ok()) {
      host.dropped_at = ended.stage;
    }
  }
}

void TakeResults(OpenRun& run, const StageVisit& ended) {
  for (const auto& [state, hosts] : ended.results)
    for (const std::uint32_t ordinal : hosts.List()) {
      HostTasks<>& tasks = run.hosts[ordinal].ended;
      tasks.Take(HostTasks<>::Of(ended, {}, state));
      tasks.Prune();
    }
}

void MarkEntered(OpenRun& run, const StageVisit& begun) {
  const auto forget = [&](OpenRun::Marks& of, std::uint32_t stage) {
    const auto found = of.find(stage);
    if (found == of.end()) return;
    found->second.hosts = Difference(found->second.hosts, begun.hosts);
    found->second.stands = false;
  };
  if (!begun.parent && !run.entered.empty())
    for (const std::uint32_t stage : StagesAfter(run.run.spec, begun.stage)) {
      forget(run.entered, stage);
      forget(run.passed, stage);
    }
  forget(run.passed, begun.stage);
  OpenRun::Mark& entered = run.entered[begun.stage];
  entered.hosts = Union(entered.hosts, begun.hosts);
  entered.stands = true;
}

void MarkPassed(OpenRun& run, const StageVisit& ended) {
  const bool well = ended.state == StageState::kSucceeded || ended.state == StageState::kSkipped;
  if (!well && !WorksOnHosts(run.run.spec.stages[ended.stage])) return;
  OpenRun::Mark& passed = run.passed[ended.stage];
  passed.hosts = Union(passed.hosts, Difference(ended.hosts, ended.dropped));
  passed.stands = true;
}

void ForgetReported(OpenRun& run, const StageVisit& begun) {
  const auto found = run.reported.find(begun.name);
  if (found == run.reported.end()) return;
  found->second.stage.clear();
  found->second.status.clear();
  std::erase_if(found->second.hosts,
                [&](const auto& item) { return begun.hosts.Contains(item.first); });
}

}  // namespace muster::engine
