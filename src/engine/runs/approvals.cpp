#include "engine/runs/approvals.hpp"

#include <algorithm>

#include "engine/runs/flow.hpp"

namespace muster::engine {
namespace {

void AddOnce(std::vector<std::string>& names, const std::string& name) {
  if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
}

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
  return found != run.entered.end() && Difference(hosts, found->second).Empty();
}

bool WasPassedBy(const OpenRun& run, std::uint32_t stage, const Ordinals& hosts) {
  return run.run.stages[stage].state == StageState::kSucceeded && WasEnteredBy(run, stage, hosts);
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

PlanApprovals LeftOutUnderSamePlan(const OpenRun& run, const PassBeginning& beginning) {
  PlanApprovals found;
  if (WasEnteredBy(run, beginning.stage, beginning.hosts)) return found;
  const RunSpec& plan = run.run.spec;
  for (const std::uint32_t stage : StagesBefore(plan, beginning.stage)) {
    if (WasPassedBy(run, stage, beginning.hosts) || WasNotTaken(run, stage, beginning.hosts))
      continue;
    for (auto& approval : ApprovalsIn(plan, stage)) found.push_back(std::move(approval));
  }
  return found;
}

// What was approved was the plan before.
PlanApprovals LeftOutByPlan(const OpenRun& run, const PassBeginning& beginning) {
  PlanApprovals found = MissingIn(run.run.spec, *beginning.plan);
  std::erase_if(found, [&](const PlanApproval& approval) {
    return run.run.stages[approval.stage].state == StageState::kSucceeded;
  });
  for (const std::uint32_t stage : StagesBefore(*beginning.plan, beginning.stage))
    for (auto& approval : ApprovalsIn(*beginning.plan, stage)) found.push_back(std::move(approval));
  if (beginning.inside)
    for (auto& approval : ApprovalsIn(*beginning.plan, beginning.stage))
      found.push_back(std::move(approval));
  return found;
}

}  // namespace

std::vector<std::string> StartersOf(const State& state, const OpenRun& run) {
  std::vector<std::string> names;
  for (const OpenRun* at = &run; at != nullptr;) {
    AddOnce(names, at->run.by);
    for (const auto& name : at->run.starters) AddOnce(names, name);
    const auto parent = at->run.parent ? state.runs.find(at->run.parent) : state.runs.end();
    at = parent == state.runs.end() ? nullptr : &parent->second;
  }
  return names;
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
  if (wanted.not_starter && std::ranges::find(starters, caller.name) != starters.end())
    return Fail(ErrorCode::kDenied,
                "'{}' started or changed this run, or wrote what its trigger started; another "
                "person must answer",
                caller.name);
  if (wanted.by.empty()) return {};
  const auto has = RoleOf(state, caller);
  std::string wanted_names;
  for (const auto& name : wanted.by) {
    if (name == caller.name) return {};
    const auto role = ParseRole(name);
    if (role && has && *has >= *role) return {};
    wanted_names += (wanted_names.empty() ? "" : ", ") + name;
  }
  return Fail(ErrorCode::kDenied, "only {} may answer this", wanted_names);
}

Result<> CheckGoingAround(const State& state, const std::vector<std::string>& starters,
                          const PlanApprovals& approvals, const Caller& caller,
                          std::string_view act) {
  for (const auto& approval : approvals)
    if (const auto may = CheckApprover(state, starters, *approval.wanted, caller); !may)
      return Fail(ErrorCode::kDenied,
                  "{} goes around the approval '{}', which needs the right to approve it: {}", act,
                  approval.name, may.error().message);
  return {};
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
