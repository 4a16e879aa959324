#include "engine/runs/steered.hpp"

#include <algorithm>

#include "domain/wrap_batched.hpp"
#include "engine/runs/approvals.hpp"
#include "engine/runs/audit_hosts.hpp"
#include "engine/runs/keep_run.hpp"

namespace muster::engine {

Result<OpenRun*> FindOpen(State& state, RunId id) {
  const auto found = state.runs.open.find(id);
  if (found == state.runs.open.end())
    return Fail(ErrorCode::kConflict,
                "run {} is not open: it has ended, or there is none; 'muster retry' opens an "
                "ended one again",
                FormatRunId(id));
  if (found->second.restored)
    return Fail(ErrorCode::kConflict,
                "run {} was open in the backup this server was restored from, and ends by "
                "itself; retry it then",
                FormatRunId(id));
  return &found->second;
}

Result<OpenRun*> FindGoing(State& state, RunId id) {
  auto run = FindOpen(state, id);
  if (run && (*run)->Stopping())
    return Fail(ErrorCode::kConflict, "run {} is being stopped", FormatRunId(id));
  return run;
}

AuditFacts FactsAbout(const State& state, const OpenRun& run) {
  AuditFacts facts;
  facts.job = run.run.spec.job;
  facts.version = run.run.spec.version;
  facts.pass = run.run.pass;
  facts.starters = StartersOf(state, run);
  return facts;
}

RunSteered Steered(Turn& turn, const Caller& caller, OpenRun& run, std::string act,
                   std::string detail, const std::string& reason, const AuditFacts& facts,
                   const Ordinals& hosts) {
  AuditEntry entry;
  entry.act = std::move(act);
  entry.object = FormatRunId(run.run.id);
  entry.detail = DetailWith(std::move(detail), facts);
  entry.reason = reason;
  entry.run = run.run.id;
  auto about = PutHosts(entry, *run.targets, hosts);
  turn.Audit(caller, std::move(entry), std::move(about));
  KeepRun(turn, run);
  turn.Wake(run);
  return {run.run.id, run.run.state, run.run.pass};
}

std::optional<std::uint32_t> StageNamed(const Run& run, const std::string& name) {
  const auto found = std::ranges::find(run.spec.stages, name, &StageSpec::name);
  if (found == run.spec.stages.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - run.spec.stages.begin());
}

std::unexpected<Error> NoSuchStage(const Run& run, const std::string& name) {
  return Fail(ErrorCode::kNotFound, "run {} has no stage '{}'; it has {}", FormatRunId(run.id),
              name, NamesOfStages(run.spec));
}

std::uint32_t BatchOf(const OpenRun& run, std::uint32_t stage) {
  const StageSpec& spec = run.run.spec.stages[stage];
  if (!spec.batches.Empty()) return run.run.stages[stage].batch;
  return spec.parent ? BatchOf(run, *spec.parent) : 0;
}

}  // namespace muster::engine
