#include "engine/runs/retry_beginning.hpp"

#include <algorithm>

#include "domain/approvals.hpp"
#include "engine/runs/again.hpp"
#include "engine/runs/audit_hosts.hpp"
#include "engine/runs/stage_order.hpp"

namespace muster::engine {
namespace {

Ordinals OkHosts(const OpenRun& run) {
  Ordinals hosts;
  for (std::uint32_t i = 0; i < run.hosts.size(); ++i)
    if (run.hosts[i].Ok()) hosts.Insert(i);
  return hosts;
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

// Why there is nothing to retry. Only the main list is done again by itself.
Error NothingFailed(const OpenRun& run) {
  const std::string id = FormatRunId(run.run.id);
  for (const auto& [stage, visit] : run.ended) {
    if (!visit.in_finally || visit.parent || WentWell(visit.state)) continue;
    AuditEntry on;
    PutHosts(on, *run.targets, visit.dropped);
    return {ErrorCode::kConflict,
            fmt::format("every host of run {} came through, but stage {} failed{}{}; `finally` "
                        "stages are only done again behind others: name one with --from STAGE or "
                        "--from-start, or start a new run: muster rerun {}",
                        id, visit.name, on.names.empty() ? "" : " on ", on.names, id)};
  }
  return {ErrorCode::kConflict,
          fmt::format("every host of run {} came through; name what to repeat with --from STAGE or "
                      "--from-start",
                      id)};
}

}  // namespace

Result<std::uint32_t> MainStageNamed(const RunSpec& plan, const std::string& name) {
  const auto found = std::ranges::find(plan.stages, name, &StageSpec::name);
  if (found == plan.stages.end())
    return Fail(ErrorCode::kNotFound, "the job has no stage '{}'", name);
  if (!InMainList(*found))
    return Fail(ErrorCode::kInvalid,
                "stage '{}' is not one of the main list; a retry begins with one of those, and "
                "does the `finally` stages at its end",
                name);
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
    const auto stage = FirstOf(spec, FailedStages(run));
    if (!stage) return Fail(NothingFailed(run));
    beginning.stage = *stage;
    beginning.others = true;
  }
  beginning.entry.hosts = HostsFor(run, beginning.stage, command);
  if (beginning.entry.hosts->Empty() && WorksOnHosts(spec.stages[beginning.stage]))
    return Fail(ErrorCode::kConflict, "no host of run {} {} stage {}", FormatRunId(run.run.id),
                command.from.empty() ? "failed in" : "came to", spec.stages[beginning.stage].name);
  const bool plain = command.from.empty() && !command.from_start && !command.all_hosts;
  if (plain) {
    beginning.entry.begins = BeginsOf(run, beginning.stage, *beginning.entry.hosts);
    ContinueBatches(run, run.courses, beginning.stage, beginning.entry);
  }
  if (beginning.others)
    for (const auto& [stage, hosts] : DroppedOut(run))
      beginning.later = Union(beginning.later, Difference(hosts, *beginning.entry.hosts));
  // A stage that is not about hosts is for those that are ok, and brings nobody back.
  if (beginning.entry.hosts->Empty()) beginning.entry.hosts.reset();
  return beginning;
}

Ordinals FirstHosts(const OpenRun& run, const Beginning& beginning) {
  if (beginning.entry.hosts) return *beginning.entry.hosts;
  return ChooseHosts(run, run.run.spec.stages[beginning.stage], {});
}

Ordinals HostsOfPass(const OpenRun& run, const Beginning& beginning) {
  return Union(FirstHosts(run, beginning), beginning.later);
}

}  // namespace muster::engine
