#include "engine/runs/moving.hpp"

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

void ForgetReported(OpenRun& run, const StageVisit& begun) {
  const auto found = run.reported.find(begun.name);
  if (found == run.reported.end()) return;
  found->second.stage.clear();
  found->second.status.clear();
  std::erase_if(found->second.hosts,
                [&](const auto& item) { return begun.hosts.Contains(item.first); });
}

}  // namespace muster::engine
