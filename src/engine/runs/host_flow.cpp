#include "engine/runs/host_flow.hpp"

#include "domain/approvals.hpp"

namespace muster::engine {
namespace {

// Whether `inner` is the stage, or one that it holds.
bool Holds(const RunSpec& spec, std::uint32_t stage, std::uint32_t inner) {
  while (inner != stage && spec.stages[inner].parent) inner = *spec.stages[inner].parent;
  return inner == stage;
}

}  // namespace

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
