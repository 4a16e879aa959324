#include "engine/runs/start_audit.hpp"

#include "domain/audit_facts.hpp"
#include "domain/host_ranges.hpp"
#include "domain/wrap_batched.hpp"
#include "engine/runs/audit_hosts.hpp"

namespace muster::engine {
namespace {

// The stage that starts a child run.
std::string ParentStage(const State& state, const Run& child) {
  const auto parent = state.runs.open.find(child.parent);
  if (parent == state.runs.open.end()) return {};
  const auto visit = parent->second.visits.find(child.parent_visit);
  return visit == parent->second.visits.end() ? "" : visit->second.record.name;
}

// "job kernel version 3 on 2 hosts (app=db), trigger nightly, slot …".
std::string SentenceOf(const Run& run, const std::string& stage) {
  std::string text = fmt::format("{} on {}", WorkOf(run.spec), HostsText(run.hosts));
  if (run.parent)
    text += fmt::format(", stage {} of {}", stage, FormatRunId(run.parent));
  else
    text += fmt::format(" ({})", run.spec.targets);
  if (!run.trigger.empty())
    text += fmt::format(", trigger {}, slot {}", run.trigger, FormatTime(run.slot));
  if (!run.spec.left_out.empty()) text += "; without " + run.spec.left_out;
  return text;
}

}  // namespace

void AuditStart(Turn& turn, const Caller& caller, const OpenRun& open, StartNote note) {
  const Run& run = open.run;
  AuditFacts facts = FactsOf(run.spec);
  facts.trigger = run.trigger;
  facts.starters = run.starters;
  if (run.parent) {
    facts.parent = FormatRunId(run.parent);
    facts.stage = ParentStage(turn.state, run);
  }
  AuditEntry entry;
  entry.act = kActRunStart;
  entry.object = FormatRunId(run.id);
  entry.detail = DetailWith(SentenceOf(run, facts.stage) + note.remark, facts);
  entry.reason = std::move(note.reason);
  entry.run = run.id;
  // Names that were folded before hosts were left out would name those too.
  if (!note.names.empty() && run.spec.left_out.empty()) {
    entry.hosts = run.hosts;
    entry.names = std::move(note.names);
  } else {
    PutHosts(entry, *open.targets, Ordinals::All(run.hosts));
  }
  const auto stages = StagesAsWritten(run.spec);
  const muster::Command* executed =
      stages.empty() ? nullptr : CommandOf(run.spec.stages[stages.front().work]);
  if (executed != nullptr) {
    entry.command = AuditText(*executed);
    entry.command_sha256 = facts.stages.front().sha256;
  }
  turn.Audit(caller, std::move(entry));
}

std::string WorkOf(const RunSpec& plan) {
  if (!plan.job.empty()) return fmt::format("job {} version {}", plan.job, plan.version);
  return plan.stages.empty() ? "nothing" : std::string(ActionName(plan.stages.front()));
}

}  // namespace muster::engine
