#include "engine/runs/approvals.hpp"

#include <algorithm>

#include "domain/approvers.hpp"
#include "engine/runs/flow.hpp"

namespace muster::engine {
namespace {

// The first admin's token is a file and no record.
std::optional<Role> RoleOf(const State& state, const Caller& caller) {
  if (caller.name == kBootstrapAdmin) return Role::kAdmin;
  const auto token = state.tokens.find(caller.name);
  if (token == state.tokens.end()) return std::nullopt;
  return token->second.role;
}

// Whether the flow itself, under this plan, has let all these hosts into the stage before.
bool WasEnteredBy(const OpenRun& run, std::uint32_t stage, const Ordinals& hosts) {
  const auto found = run.entered.find(stage);
  return found != run.entered.end() && found->second.Covers(hosts);
}

bool WasPassedBy(const OpenRun& run, std::uint32_t stage, const Ordinals& hosts) {
  const auto found = run.passed.find(stage);
  return run.run.stages[stage].state == StageState::kSucceeded && found != run.passed.end() &&
         found->second.Covers(hosts);
}

// Whether a branch was left out because the flow did not switch to it.
bool WasNotTaken(const OpenRun& run, std::uint32_t stage, const Ordinals& hosts) {
  if (run.run.spec.stages[stage].section != Section::kBranch) return false;
  if (run.run.stages[stage].visits > 0) return false;
  const auto& stages = run.run.spec.stages;
  for (std::uint32_t i = 0; i < stages.size(); ++i) {
    const bool leads =
        std::ranges::any_of(stages[i].next, [&](const auto& item) { return item.second == stage; });
    if (leads && !WasPassedBy(run, i, hosts)) return false;
  }
  return true;
}

// Those of these stages that the flow did not bring all the hosts through. `stages` are those of
// `plan`, which may be another version of the run's.
std::vector<std::uint32_t> NotPassed(const OpenRun& run, const RunSpec& plan,
                                     const std::vector<std::uint32_t>& stages,
                                     const Ordinals& hosts) {
  std::vector<std::uint32_t> open;
  for (const std::uint32_t stage : stages) {
    const auto known =
        std::ranges::find(run.run.spec.stages, plan.stages[stage].name, &StageSpec::name);
    const auto at = static_cast<std::uint32_t>(known - run.run.spec.stages.begin());
    const bool done = known != run.run.spec.stages.end() &&
                      (run.run.stages[at].state == StageState::kSkipped ||
                       WasPassedBy(run, at, hosts) || WasNotTaken(run, at, hosts));
    if (!done) open.push_back(stage);
  }
  return open;
}

// Approvals from the beginning on that the flow might not ask for, as what they depend on was not
// made by the flow for these hosts.
PlanApprovals LeftOutByConditions(const OpenRun& run, const RunSpec& plan,
                                  const PassBeginning& beginning) {
  const auto before = StagesBefore(plan, beginning.stage);
  PlanApprovals found = DependingOn(plan, NotPassed(run, plan, before, beginning.hosts));
  // Hosts that begin in the middle of a stage do not come through its first inner stages again.
  PlanApprovals more = ApprovalsIn(plan);
  std::erase_if(more, [&](const PlanApproval& approval) {
    const bool inside =
        beginning.inside && approval.stage == beginning.stage && approval.asked_if.stage;
    return !inside && !approval.asked_if.pass;
  });
  AddApprovals(found, std::move(more));
  std::erase_if(found, [&](const PlanApproval& approval) {
    return std::ranges::find(before, approval.stage) != before.end();
  });
  return found;
}

PlanApprovals LeftOutUnderSamePlan(const OpenRun& run, const PassBeginning& beginning) {
  const RunSpec& plan = run.run.spec;
  PlanApprovals found = LeftOutByConditions(run, plan, beginning);
  std::erase_if(found, [&](const PlanApproval& approval) {
    return WasPassedBy(run, approval.stage, beginning.hosts);
  });
  if (WasEnteredBy(run, beginning.stage, beginning.hosts)) return found;
  auto before = StagesBefore(plan, beginning.stage);
  std::erase_if(before, [&](std::uint32_t stage) {
    return WasPassedBy(run, stage, beginning.hosts) || WasNotTaken(run, stage, beginning.hosts);
  });
  AddApprovals(found, ApprovalsIn(plan, before));
  return found;
}

// What was approved was the plan before.
PlanApprovals LeftOutByPlan(const OpenRun& run, const PassBeginning& beginning) {
  const RunSpec& plan = *beginning.plan;
  PlanApprovals found = MissingIn(run.run.spec, plan);
  AddApprovals(found, ApprovalsIn(plan, StagesBefore(plan, beginning.stage)));
  if (beginning.inside) AddApprovals(found, ApprovalsIn(plan, beginning.stage));
  AddApprovals(found, LeftOutByConditions(run, plan, beginning));
  return found;
}

// The stage that an approval depends on; nothing when that is not one stage of the main list.
const StageSpec* DependsOn(const PlanApproval& approval) {
  const RunSpec& plan = *approval.path.front().plan;
  const auto stage = approval.asked_if.stage.value_or(AskedIf::kAnyStage);
  if (stage >= plan.stages.size() || !InMainList(plan.stages[stage])) return nullptr;
  return &plan.stages[stage];
}

// Whether the plan that a retry brings does not ask for it as the run's plan does.
bool IsDropped(const GoingAround& around, const PlanApproval& approval) {
  return around.other != nullptr && approval.path.front().plan != around.other;
}

std::string WhyLeftOut(const GoingAround& around, const PlanApproval& approval) {
  if (IsDropped(around, approval))
    return fmt::format(", for which version {} asks in another way or not at all",
                       around.other->version);
  if (around.other != nullptr)
    return fmt::format(", which was not given for version {}", around.other->version);
  if (const auto* stage = DependsOn(approval))
    return fmt::format(", which depends on stage '{}'", stage->name);
  if (approval.asked_if.stage) return ", which depends on the stages before it";
  return approval.asked_if.pass ? ", which depends on the number of the pass" : "";
}

// What the person may do without that right.
std::string InsteadOf(const GoingAround& around, const PlanApproval& approval) {
  if (around.from.empty()) return {};
  const StageSpec* first = DependsOn(approval);
  if (first == nullptr) first = &approval.path.front().plan->stages[approval.stage];
  if (IsDropped(around, approval) || !InMainList(*first)) return "; or start a new run";
  if (first->name == around.from) return "; or begin with an earlier stage";
  return fmt::format("; or begin with that stage: --from {}", first->name);
}

}  // namespace

std::vector<const Run*> RunsAbove(const State& state, const OpenRun& run) {
  std::vector<const Run*> above;
  for (RunId id = run.run.parent; id;) {
    const auto parent = state.runs.find(id);
    if (parent == state.runs.end()) break;
    above.push_back(&parent->second.run);
    id = parent->second.run.parent;
  }
  return above;
}

std::vector<std::string> StartersOf(const State& state, const OpenRun& run) {
  return muster::StartersOf(run.run, RunsAbove(state, run));
}

void AddStarter(Turn& turn, OpenRun& run, const std::string& name) {
  for (OpenRun* at = &run; at != nullptr;) {
    if (!name.empty() && at->run.by != name &&
        std::ranges::find(at->run.starters, name) == at->run.starters.end()) {
      at->run.starters.push_back(name);
      KeepRun(turn, *at);
    }
    const auto parent =
        at->run.parent ? turn.state.runs.find(at->run.parent) : turn.state.runs.end();
    at = parent == turn.state.runs.end() ? nullptr : &parent->second;
  }
}

Result<> CheckApprover(const State& state, const std::vector<std::string>& starters,
                       const ApproveAction& wanted, const Caller& caller) {
  return muster::CheckApprover(starters, wanted, caller.name, RoleOf(state, caller));
}

Result<> CheckGoingAround(const State& state, const std::vector<std::string>& starters,
                          const GoingAround& around, const Caller& caller) {
  for (const auto& approval : around.approvals)
    if (const auto may = CheckApprover(state, starters, *approval.wanted, caller); !may)
      return Fail(ErrorCode::kDenied,
                  "{} could leave out the approval '{}'{}, so it needs the right to approve: {}{}",
                  around.act, approval.name, WhyLeftOut(around, approval), may.error().message,
                  InsteadOf(around, approval));
  return {};
}

PlanApprovals DependingAbove(const State& state, const OpenRun& run) {
  PlanApprovals found;
  for (const OpenRun* at = &run; at->run.parent;) {
    const auto parent = state.runs.find(at->run.parent);
    if (parent == state.runs.end() || parent->second.Stopping()) break;
    const auto visit = parent->second.visits.find(at->run.parent_visit);
    if (visit != parent->second.visits.end())
      AddApprovals(found, DependingOn(parent->second.run.spec, visit->second.record.stage));
    at = &parent->second;
  }
  return found;
}

Result<> CheckInfluence(const State& state, const OpenRun& run, std::uint32_t stage,
                        const Caller& caller, std::string act) {
  GoingAround around{.act = std::move(act), .approvals = DependingOn(run.run.spec, stage)};
  AddApprovals(around.approvals, DependingAbove(state, run));
  return CheckGoingAround(state, StartersOf(state, run), around, caller);
}

std::uint32_t FirstOpenStage(const OpenRun& run) {
  const auto& stages = run.run.spec.stages;
  for (std::uint32_t i = 0; i < stages.size(); ++i)
    if (!stages[i].parent && !IsFinal(run.run.stages[i].state)) return i;
  return 0;
}

PlanApprovals LeftOutByBeginning(const OpenRun& run, const PassBeginning& beginning) {
  return beginning.plan != nullptr ? LeftOutByPlan(run, beginning)
                                   : LeftOutUnderSamePlan(run, beginning);
}

std::string NamesOf(const PlanApprovals& approvals) {
  std::string names;
  for (const auto& approval : approvals) names += (names.empty() ? "" : ", ") + approval.name;
  return names;
}

}  // namespace muster::engine
