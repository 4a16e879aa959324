#include "engine/runs/approvals.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "domain/approvers.hpp"
#include "engine/runs/keep_run.hpp"
#include "engine/runs/render.hpp"

namespace muster::engine {
namespace {

constexpr std::size_t kMostNames = 64;
// The first admin's token is a file and no record.
std::optional<Role> RoleOf(const State& state, const Caller& caller) {
  if (caller.name == kBootstrapAdmin) return Role::kAdmin;
  const auto token = state.auth.tokens.find(caller.name);
  if (token == state.auth.tokens.end()) return std::nullopt;
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

// The approval between batches is asked from the second batch on, so a stage that was begun has
// already done work that another version would do without being asked.
bool BeginsBeforeApprovals(const PassBeginning& beginning) {
  const auto asks = HoldApprovals(*beginning.plan);
  for (std::uint32_t i = 0; i < beginning.stage; ++i)
    if (asks[i]) return false;
  return !asks[beginning.stage] || !beginning.begun ||
         std::holds_alternative<ApproveAction>(beginning.plan->stages[beginning.stage].action);
}

// What was approved was the plan before.
PlanApprovals LeftOutByPlan(const OpenRun& run, const PassBeginning& beginning) {
  const RunSpec& plan = *beginning.plan;
  const bool alike =
      HoldsApproval(run.run.spec) ? AsksAlike(run.run.spec, plan) : AsksInOrder(plan);
  if (alike && BeginsBeforeApprovals(beginning)) return {};
  PlanApprovals found = ApprovalsIn(run.run.spec);
  AddApprovals(found, ApprovalsIn(plan));
  return found;
}

// Whether the stage's condition leaves it out. In a plan that asks in order, a condition of a stage
// with approvals never changes.
bool IsNeverEntered(const OpenRun& run, std::uint32_t stage) {
  const auto holds = HoldsNow(run, run.run.spec.stages[stage].when);
  return holds && !*holds;
}

// The plan asks in order, so the approvals of earlier stages of the main list are left out, unless
// the flow has brought these hosts there.
PlanApprovals LeftOutUnderSamePlan(const OpenRun& run, const PassBeginning& beginning) {
  const RunSpec& plan = run.run.spec;
  if (WasEnteredBy(run, beginning.stage, beginning.hosts)) return {};
  PlanApprovals found = ApprovalsIn(plan);
  std::erase_if(found, [&](const PlanApproval& approval) {
    return approval.stage >= beginning.stage || IsNeverEntered(run, approval.stage) ||
           WasPassedBy(run, approval.stage, beginning.hosts);
  });
  return found;
}

// Approvals of the plan that the flow does not come to from where the pass begins, and that these
// hosts have not passed.
PlanApprovals SurelyLeftOut(const OpenRun& run, const RunSpec& plan,
                            const PassBeginning& beginning) {
  PlanApprovals found = ApprovalsIn(plan);
  const auto after = StagesAfter(plan, beginning.stage);
  const bool same = beginning.plan == nullptr;
  std::erase_if(found, [&](const PlanApproval& approval) {
    return approval.stage == beginning.stage ||
           plan.stages[approval.stage].section != Section::kMain ||
           std::ranges::binary_search(after, approval.stage) ||
           (same && (IsNeverEntered(run, approval.stage) ||
                     WasPassedBy(run, approval.stage, beginning.hosts)));
  });
  return found;
}

}  // namespace

std::vector<const Run*> RunsAbove(const State& state, const OpenRun& run) {
  std::vector<const Run*> above;
  for (RunId id = run.run.parent; id;) {
    const auto parent = state.runs.open.find(id);
    if (parent == state.runs.open.end()) break;
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
        at->run.parent ? turn.state.runs.open.find(at->run.parent) : turn.state.runs.open.end();
    at = parent == turn.state.runs.open.end() ? nullptr : &parent->second;
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
                  around.act, approval.name, around.why, may.error().message, around.instead);
  return {};
}

PlanApprovals OnSomeCoursesAbove(const State& state, const OpenRun& run) {
  PlanApprovals found;
  for (const OpenRun* at = &run; at->run.parent;) {
    const auto parent = state.runs.open.find(at->run.parent);
    if (parent == state.runs.open.end() || parent->second.Stopping()) break;
    at = &parent->second;
    if (!AsksInOrder(at->run.spec)) AddApprovals(found, ApprovalsIn(at->run.spec));
  }
  return found;
}

PlanApprovals OnSomeCourses(const State& state, const OpenRun& run) {
  PlanApprovals found;
  if (!AsksInOrder(run.run.spec)) found = ApprovalsIn(run.run.spec);
  AddApprovals(found, OnSomeCoursesAbove(state, run));
  return found;
}

Result<> CheckCourse(const State& state, const OpenRun& run, const Caller& caller,
                     std::string act) {
  const GoingAround around{.act = std::move(act),
                           .approvals = OnSomeCourses(state, run),
                           .why = std::string(kOnSomeCourses)};
  return CheckGoingAround(state, StartersOf(state, run), around, caller);
}

GoingAround RetryGoingAround(const State& state, const OpenRun& run,
                             const PassBeginning& beginning) {
  const RunSpec& plan = beginning.plan != nullptr ? *beginning.plan : run.run.spec;
  GoingAround around{.act =
                         fmt::format("a retry from stage '{}'", plan.stages[beginning.stage].name)};
  if (around.approvals = OnSomeCourses(state, run); !around.approvals.empty()) {
    around.why = kOnSomeCourses;
    around.instead = "; or start a new run";
  }
  PlanApprovals more = beginning.plan != nullptr ? LeftOutByPlan(run, beginning)
                                                 : LeftOutUnderSamePlan(run, beginning);
  if (around.approvals.empty() && beginning.plan != nullptr) {
    around.why = fmt::format(", which was not given for version {}", plan.version);
    around.instead =
        "; or begin with the approval or before it, if the version asks as before; or start a new "
        "run";
  } else if (around.approvals.empty() && !more.empty()) {
    around.instead =
        fmt::format("; or begin with that stage: --from {}", plan.stages[more.front().stage].name);
  }
  AddApprovals(around.approvals, std::move(more));
  if (!around.approvals.empty()) around.surely = SurelyLeftOut(run, plan, beginning);
  return around;
}

std::vector<std::string> NamesOf(const PlanApprovals& approvals) {
  std::vector<std::string> names;
  std::set<std::string_view> known;
  for (const auto& approval : approvals)
    if (known.insert(approval.name).second && names.size() < kMostNames)
      names.push_back(approval.name);
  if (known.size() > kMostNames)
    names.push_back(fmt::format("and {} more", known.size() - kMostNames));
  return names;
}

}  // namespace muster::engine
