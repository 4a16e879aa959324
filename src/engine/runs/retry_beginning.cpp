#include "engine/runs/retry_beginning.hpp"

#include <algorithm>

#include "domain/approvals.hpp"
#include "engine/runs/stage_order.hpp"

namespace muster::engine {
namespace {

Ordinals OkHosts(const OpenRun& run) {
  Ordinals hosts;
  for (std::uint32_t i = 0; i < run.hosts.size(); ++i)
    if (run.hosts[i].Ok()) hosts.Insert(i);
  return hosts;
}

// The first stage that did not go well; where all did, the first that a host dropped out of.
std::optional<std::uint32_t> FailedStage(const OpenRun& run) {
  const auto& stages = run.run.spec.stages;
  for (std::uint32_t i = 0; i < stages.size(); ++i) {
    const StageProgress& progress = run.run.stages[i];
    if (InMainList(stages[i]) && progress.visits > 0 && !WentWell(progress.state)) return i;
  }
  std::optional<std::uint32_t> first;
  for (const auto& host : run.hosts)
    if (!host.Ok()) {
      const std::uint32_t top = TopLevelOf(run.run.spec, host.dropped_at);
      first = std::min(first.value_or(top), top);
    }
  return first;
}

// Which hosts take part, by the stages of the plan the run had.
Ordinals HostsFor(const OpenRun& run, std::uint32_t stage, const RetryRun& command) {
  if (command.from_start) return Ordinals::All(run.run.hosts);
  const bool also_ok = command.all_hosts || !command.from.empty();
  Ordinals hosts;
  for (std::uint32_t i = 0; i < run.hosts.size(); ++i) {
    const HostFlow& host = run.hosts[i];
    const std::uint32_t top = host.Ok() ? 0 : TopLevelOf(run.run.spec, host.dropped_at);
    const bool wanted = host.Ok() ? also_ok : also_ok ? top >= stage : top == stage;
    if (wanted || (command.all_hosts && !command.from.empty())) hosts.Insert(i);
  }
  return hosts;
}

// A retried host goes on with the first inner stage that it did not come through.
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

// The batch counter goes on where it stood: with those of the last batch that are left, if any.
void ContinueBatches(const OpenRun& run, std::uint32_t stage, Entry& entry) {
  const auto last = run.ended.find(stage);
  if (last == run.ended.end() || run.run.spec.stages[stage].batches.Empty()) return;
  const StageVisit& visit = last->second;
  const auto before = visit.hosts.List();
  const auto begun = Ordinals::Of(
      {before.begin(), before.begin() + std::min<std::size_t>(visit.batch_end, before.size())});
  entry.batch_hosts = Intersection(*entry.hosts, begun).Count();
  entry.batch = entry.batch_hosts > 0 ? visit.batch : visit.batch + 1;
}

}  // namespace

Result<std::uint32_t> MainStageNamed(const RunSpec& plan, const std::string& name) {
  const auto found = std::ranges::find(plan.stages, name, &StageSpec::name);
  if (found == plan.stages.end())
    return Fail(ErrorCode::kNotFound, "the job has no stage '{}'", name);
  if (!InMainList(*found))
    return Fail(ErrorCode::kInvalid,
                "stage '{}' is not one of the main list; a retry begins with one of those", name);
  return static_cast<std::uint32_t>(found - plan.stages.begin());
}

// Without hosts of its own a pass begins on those that are still well.
Ordinals HostsOf(const OpenRun& run, const Beginning& beginning) {
  return beginning.entry.hosts ? *beginning.entry.hosts : OkHosts(run);
}

Result<Beginning> FindBeginning(const OpenRun& run, const RetryRun& command) {
  Beginning beginning;
  const RunSpec& spec = run.run.spec;
  if (!command.from.empty()) {
    const auto stage = MainStageNamed(spec, command.from);
    if (!stage) return Fail(stage.error());
    beginning.stage = *stage;
  } else if (command.from_start) {
    const auto first = std::ranges::find_if(spec.stages, InMainList);
    beginning.stage = static_cast<std::uint32_t>(first - spec.stages.begin());
  } else {
    const auto stage = FailedStage(run);
    if (!stage)
      return Fail(ErrorCode::kConflict,
                  "every host of run {} came through; name what to repeat with --from STAGE or "
                  "--from-start",
                  FormatRunId(run.run.id));
    beginning.stage = *stage;
  }
  beginning.entry.hosts = HostsFor(run, beginning.stage, command);
  if (beginning.entry.hosts->Empty() && WorksOnHosts(spec.stages[beginning.stage]))
    return Fail(ErrorCode::kConflict, "no host of run {} {} stage {}", FormatRunId(run.run.id),
                command.from.empty() ? "failed in" : "came to", spec.stages[beginning.stage].name);
  const bool plain = command.from.empty() && !command.from_start && !command.all_hosts;
  if (plain) {
    beginning.entry.begins = BeginsOf(run, beginning.stage, *beginning.entry.hosts);
    ContinueBatches(run, beginning.stage, beginning.entry);
  }
  // A stage that is not about hosts is for those that are ok, and brings nobody back.
  if (beginning.entry.hosts->Empty()) beginning.entry.hosts.reset();
  return beginning;
}

Ordinals FirstHosts(const OpenRun& run, const Beginning& beginning) {
  if (beginning.entry.hosts) return *beginning.entry.hosts;
  return ChooseHosts(run, run.run.spec.stages[beginning.stage], {});
}

}  // namespace muster::engine
