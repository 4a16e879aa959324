#include "engine/runs/moving.hpp"

#include "domain/approvals.hpp"

namespace muster::engine {

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
      if (host.dropped_at == ended.stage) host.dropped_at = HostFlow::kNowhere;
    } else if (host.Ok()) {
      host.dropped_at = ended.stage;
    }
  }
}

void MarkEntered(OpenRun& run, const StageVisit& begun) {
  const auto forget = [&](std::map<std::uint32_t, Ordinals>& of, std::uint32_t stage) {
    if (const auto found = of.find(stage); found != of.end())
      found->second = Difference(found->second, begun.hosts);
  };
  if (!begun.parent && !run.entered.empty())
    for (const std::uint32_t stage : StagesAfter(run.run.spec, begun.stage)) {
      forget(run.entered, stage);
      forget(run.passed, stage);
    }
  forget(run.passed, begun.stage);
  Ordinals& entered = run.entered[begun.stage];
  entered = Union(entered, begun.hosts);
}

void MarkPassed(OpenRun& run, const StageVisit& ended) {
  const bool well = ended.state == StageState::kSucceeded || ended.state == StageState::kSkipped;
  if (!well && !WorksOnHosts(run.run.spec.stages[ended.stage])) return;
  Ordinals& passed = run.passed[ended.stage];
  passed = Union(passed, Difference(ended.hosts, ended.dropped));
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
