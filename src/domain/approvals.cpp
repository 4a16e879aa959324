#include "domain/approvals.hpp"

#include <algorithm>
#include <set>

#include "domain/template.hpp"

namespace muster {
namespace {

// Jobs start jobs without circles, but one may be started in very many places.
using SeenJobs = std::set<const RunSpec*>;

void CollectStage(const RunSpec& plan, std::uint32_t stage, const std::string& before,
                  SeenJobs& seen, PlanApprovals& found) {
  const StageSpec& spec = plan.stages[stage];
  if (const auto* approve = std::get_if<ApproveAction>(&spec.action))
    found.push_back({before + spec.name, stage, approve});
  if (spec.between_approve)
    found.push_back({before + spec.name + " (between batches)", stage, &*spec.between_approve});
  if (const auto* job = std::get_if<JobAction>(&spec.action)) {
    const auto child = plan.jobs.find(job->job);
    if (child != plan.jobs.end() && child->second && seen.insert(child->second.get()).second)
      for (std::uint32_t i = 0; i < child->second->stages.size(); ++i)
        if (!child->second->stages[i].parent)
          CollectStage(*child->second, i, before + spec.name + " > ", seen, found);
  }
  for (std::uint32_t i = 0; i < plan.stages.size(); ++i)
    if (plan.stages[i].parent == stage) CollectStage(plan, i, before, seen, found);
}

// As seen from the plan itself: inner stages and jobs belong to the stage that holds them.
PlanApprovals CollectFrom(const RunSpec& plan, std::uint32_t stage, SeenJobs& seen) {
  PlanApprovals found;
  CollectStage(plan, stage, "", seen, found);
  for (auto& approval : found) approval.stage = stage;
  return found;
}

void AddSwitchTargets(const RunSpec& plan, std::uint32_t stage, std::set<std::uint32_t>& reached) {
  for (const auto& [outcome, target] : plan.stages[stage].next)
    if (target < plan.stages.size() && reached.insert(target).second)
      AddSwitchTargets(plan, target, reached);
}

bool LooksAt(const StageSpec& spec, const std::string& stage) {
  if (spec.when.empty()) return false;
  const auto names = NamesInCondition(spec.when);
  if (!names) return true;  // it may look at anything
  return std::ranges::any_of(*names, [&](const TemplateName& name) {
    return name.path.size() > 1 && name.path[0] == "stages" && name.path[1] == stage;
  });
}

void Append(PlanApprovals& to, PlanApprovals more) {
  for (auto& approval : more)
    if (std::ranges::find(to, approval.wanted, &PlanApproval::wanted) == to.end())
      to.push_back(std::move(approval));
}

bool IsMainStage(const StageSpec& stage) {
  return !stage.parent && stage.section == Section::kMain;
}

// The names of the main list up to and with `stage`.
std::vector<std::string> NamesUpTo(const RunSpec& plan, std::uint32_t stage) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i <= stage && i < plan.stages.size(); ++i)
    if (IsMainStage(plan.stages[i])) names.push_back(plan.stages[i].name);
  return names;
}

bool AsksTheSame(const RunSpec& plan, const PlanApproval& a, const RunSpec& other,
                 const PlanApproval& b) {
  if (a.name != b.name || a.wanted->by != b.wanted->by ||
      a.wanted->not_starter != b.wanted->not_starter)
    return false;
  if (plan.stages[a.stage].section != other.stages[b.stage].section) return false;
  return !IsMainStage(plan.stages[a.stage]) ||
         NamesUpTo(plan, a.stage) == NamesUpTo(other, b.stage);
}

}  // namespace

PlanApprovals ApprovalsIn(const RunSpec& plan, std::uint32_t stage) {
  SeenJobs seen;
  return CollectFrom(plan, stage, seen);
}

PlanApprovals ApprovalsIn(const RunSpec& plan) {
  PlanApprovals found;
  for (std::uint32_t i = 0; i < plan.stages.size(); ++i)
    if (!plan.stages[i].parent) Append(found, ApprovalsIn(plan, i));
  return found;
}

PlanApprovals LeftOutBySkipping(const RunSpec& plan, std::uint32_t stage) {
  PlanApprovals found = ApprovalsIn(plan, stage);
  std::set<std::uint32_t> reached;
  AddSwitchTargets(plan, stage, reached);
  for (const std::uint32_t target : reached) Append(found, ApprovalsIn(plan, target));
  for (std::uint32_t i = 0; i < plan.stages.size(); ++i)
    if (LooksAt(plan.stages[i], plan.stages[stage].name)) Append(found, ApprovalsIn(plan, i));
  return found;
}

std::vector<std::uint32_t> StagesBefore(const RunSpec& plan, std::uint32_t stage) {
  std::set<std::uint32_t> before;
  std::vector<std::uint32_t> open{stage};
  for (std::uint32_t i = 0; i < stage; ++i)
    if (IsMainStage(plan.stages[i])) open.push_back(i);
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    if (at != stage && !before.insert(at).second) continue;
    if (const auto& needs = plan.stages[at].needs)
      for (const std::uint32_t need : *needs)
        if (need != stage && !before.contains(need)) open.push_back(need);
    if (at == stage) continue;
    for (const auto& [outcome, target] : plan.stages[at].next)
      if (target < plan.stages.size() && plan.stages[target].section == Section::kBranch &&
          !before.contains(target))
        open.push_back(target);
  }
  return {before.begin(), before.end()};
}

PlanApprovals MissingIn(const RunSpec& plan, const RunSpec& other) {
  const PlanApprovals there = ApprovalsIn(other);
  PlanApprovals missing = ApprovalsIn(plan);
  std::erase_if(missing, [&](const PlanApproval& approval) {
    return std::ranges::any_of(there, [&](const PlanApproval& candidate) {
      return AsksTheSame(plan, approval, other, candidate);
    });
  });
  return missing;
}

}  // namespace muster
