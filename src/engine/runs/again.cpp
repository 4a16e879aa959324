#include "engine/runs/again.hpp"

#include <algorithm>

#include "domain/approvals.hpp"
#include "engine/runs/stage_order.hpp"

namespace muster::engine {
namespace {

// Whether what earlier passes did in the stage says for which hosts it is now.
bool GoesOn(const OpenRun& run, std::uint32_t stage) {
  const StageSpec& spec = run.run.spec.stages[stage];
  return run.run.pass > 1 && InMainList(spec) && spec.hosts == HostChoice::kOk &&
         IsAboutHosts(spec);
}

void Forget(OpenRun::Courses& courses, std::uint32_t stage, const Ordinals& hosts, bool begun) {
  const auto found = courses.find(stage);
  if (found == courses.end()) return;
  OpenRun::Course& course = found->second;
  course.through = Difference(course.through, hosts);
  if (begun) course.begun = Difference(course.begun, hosts);
}

}  // namespace

std::map<std::uint32_t, Ordinals> DroppedOut(const OpenRun& run) {
  std::map<std::uint32_t, Ordinals> hosts;
  for (std::uint32_t i = 0; i < run.hosts.size(); ++i)
    if (!run.hosts[i].Ok()) hosts[TopLevelOf(run.run.spec, run.hosts[i].dropped_at)].Insert(i);
  return hosts;
}

std::set<std::uint32_t> FailedStages(const OpenRun& run) {
  std::set<std::uint32_t> failed;
  const auto& stages = run.run.spec.stages;
  for (std::uint32_t i = 0; i < stages.size(); ++i) {
    const StageProgress& progress = run.run.stages[i];
    if (InMainList(stages[i]) && progress.visits > 0 && !WentWell(progress.state)) failed.insert(i);
  }
  for (const auto& [stage, hosts] : DroppedOut(run)) failed.insert(stage);
  return failed;
}

std::optional<std::uint32_t> FirstOf(const RunSpec& plan, const std::set<std::uint32_t>& stages) {
  std::set<std::uint32_t> first = stages;
  for (const std::uint32_t stage : stages)
    for (const std::uint32_t after : StagesAfter(plan, stage)) first.erase(after);
  if (!first.empty()) return *first.begin();
  return stages.empty() ? std::nullopt : std::optional(*stages.begin());
}

std::vector<Ordinals> BeginsOf(const OpenRun& run, std::uint32_t stage, const Ordinals& hosts) {
  const auto inner = InnerOf(run.run.spec, stage);
  std::vector<Ordinals> begins(inner.empty() ? 0 : inner.size() - 1);
  for (const std::uint32_t ordinal : hosts.List()) {
    const auto found = std::ranges::find(inner, run.hosts[ordinal].dropped_at);
    if (found != inner.end() && found != inner.begin())
      begins[static_cast<std::size_t>(found - inner.begin()) - 1].Insert(ordinal);
  }
  return begins;
}

void ContinueBatches(const OpenRun& run, const OpenRun::Courses& courses, std::uint32_t stage,
                     Entry& entry) {
  const auto found = courses.find(stage);
  if (found == courses.end() || run.run.spec.stages[stage].batches.Empty()) return;
  const OpenRun::Course& course = found->second;
  if (course.begun.Empty()) return;
  // The first batch is of hosts that were begun before, if there are any: the others may have an
  // approval before them.
  const auto hosts = entry.hosts->List();
  const auto other = std::ranges::find_if_not(
      hosts, [&](std::uint32_t ordinal) { return course.begun.Contains(ordinal); });
  entry.batch_hosts = static_cast<std::uint32_t>(other - hosts.begin());
  entry.batch = entry.batch_hosts > 0 ? course.batch : course.batch + 1;
}

Entry EntryFor(const OpenRun& run, std::uint32_t stage, Visit from) {
  Entry entry{.from = from, .hosts = ChooseHosts(run, run.run.spec.stages[stage], from)};
  if (!GoesOn(run, stage)) return entry;
  if (const auto found = run.earlier.find(stage); found != run.earlier.end())
    entry.hosts = Difference(*entry.hosts, found->second.through);
  if (run.ended.contains(stage)) return entry;  // hosts dropped out in this pass
  const Ordinals back = DroppedOut(run)[stage];
  entry.hosts = Union(*entry.hosts, back);
  entry.begins = BeginsOf(run, stage, back);
  ContinueBatches(run, run.earlier, stage, entry);
  return entry;
}

std::uint32_t ThroughBefore(const OpenRun& run, std::uint32_t stage) {
  if (!GoesOn(run, stage)) return 0;
  const auto found = run.earlier.find(stage);
  return found == run.earlier.end() ? 0 : found->second.through.Count();
}

void ForgetCourse(OpenRun& run, std::uint32_t stage, const Ordinals& hosts) {
  for (auto* courses : {&run.courses, &run.earlier}) {
    if (courses->empty()) continue;
    Forget(*courses, stage, hosts, false);
    for (const std::uint32_t after : StagesAfter(run.run.spec, stage))
      Forget(*courses, after, hosts, after != stage);
  }
}

void EnterAgain(OpenRun& run, const StageVisit& begun) {
  const StageSpec& spec = run.run.spec.stages[begun.stage];
  if (begun.parent || spec.hosts != HostChoice::kOk || !IsAboutHosts(spec)) return;
  ForgetCourse(run, begun.stage, begun.hosts);
  // Those that dropped out of it before have another try.
  for (const std::uint32_t ordinal : begun.hosts.List())
    if (HostFlow& host = run.hosts[ordinal];
        !host.Ok() && TopLevelOf(run.run.spec, host.dropped_at) == begun.stage)
      host.dropped_at = HostFlow::kNowhere;
}

void NoteCourse(OpenRun& run, const StageVisit& ended) {
  const StageSpec& spec = run.run.spec.stages[ended.stage];
  if (!InMainList(spec) || !IsAboutHosts(spec)) return;
  OpenRun::Course& course = run.courses[ended.stage];
  const bool worked = ended.state == StageState::kSucceeded || ended.counts.Total() > 0;
  if (worked && ended.state != StageState::kSkipped)
    course.through = Union(course.through, Difference(ended.hosts, ended.dropped));
  const auto hosts = ended.hosts.List();
  const auto begun = std::min<std::size_t>(ended.batch_end, hosts.size());
  course.begun = Union(course.begun, Ordinals::Of({hosts.begin(), hosts.begin() + begun}));
  if (begun > 0) course.batch = ended.batch;
}

}  // namespace muster::engine
