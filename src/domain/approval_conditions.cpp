#include "domain/approval_conditions.hpp"

#include <algorithm>

#include "domain/template.hpp"

namespace muster {
namespace {

using KnownToAsk = std::map<const RunSpec*, bool>;

bool AsksAnywhere(const RunSpec& plan, KnownToAsk& known);

// Whether a stage asks itself, or starts a job that does.
bool AsksOrStarts(const RunSpec& plan, std::uint32_t stage, KnownToAsk& known) {
  const StageSpec& spec = plan.stages[stage];
  if (spec.between_approve || std::holds_alternative<ApproveAction>(spec.action)) return true;
  const auto* job = std::get_if<JobAction>(&spec.action);
  if (job == nullptr) return false;
  const auto child = plan.jobs.find(job->job);
  return child != plan.jobs.end() && child->second && AsksAnywhere(*child->second, known);
}

bool AsksAnywhere(const RunSpec& plan, KnownToAsk& known) {
  if (const auto found = known.find(&plan); found != known.end()) return found->second;
  bool asks = false;
  for (std::uint32_t i = 0; i < plan.stages.size() && !asks; ++i)
    asks = AsksOrStarts(plan, i, known);
  return known[&plan] = asks;
}

void AddMention(Mentions& all, const PlanIndex& index, const TemplateName& name, bool of_child) {
  const std::string& root = name.path.front();
  if (root == "params") all.params = true;
  if (root == "targets") all.targets = true;
  if (root == "run" && name.path.size() > 1 && name.path[1] == "pass") all.pass = true;
  if (root != "stages") return;
  const auto found =
      name.path.size() < 2 ? index.flow.by_name.end() : index.flow.by_name.find(name.path[1]);
  if (of_child || found == index.flow.by_name.end())
    all.everything = true;
  else
    all.stage = std::max(all.stage, std::optional(TopLevelOf(*index.plan, found->second)));
}

void AddMentions(Mentions& all, const PlanIndex& index,
                 const Result<std::vector<TemplateName>>& names, bool of_child) {
  if (!names) {  // it may look at anything
    all.everything = all.pass = true;
    return;
  }
  for (const auto& name : *names)
    if (!name.path.empty()) AddMention(all, index, name, of_child);
}

// A stage whose result matters, as a stage of the pinned plan.
AskedIf OnStage(std::uint32_t stage, const ApprovalScope& scope) {
  return {.stage = scope.child ? scope.top : stage};
}

AskedIf OnEverythingBefore(const ApprovalScope& scope) { return {.stage = scope.top}; }

AskedIf OnMentions(const Mentions& mentions, const ApprovalScope& scope) {
  AskedIf all{.stage = {}, .pass = mentions.pass};
  if (mentions.params) all = Either(all, scope.params);
  if (mentions.everything || (mentions.targets && scope.child))
    all = Either(all, OnEverythingBefore(scope));
  if (mentions.stage) all = Either(all, OnStage(*mentions.stage, scope));
  return all;
}

}  // namespace

const PlanIndex& ApprovalIndex::Of(const RunSpec& plan) {
  const auto [place, added] = plans_.try_emplace(&plan);
  PlanIndex& index = place->second;
  if (!added) return index;
  index.plan = &plan;
  index.flow = FlowOf(plan);
  index.holds.resize(plan.stages.size());
  index.conditions.resize(plan.stages.size());
  index.parameters.resize(plan.stages.size());
  for (std::uint32_t i = 0; i < plan.stages.size(); ++i) {
    if (!AsksOrStarts(plan, i, asks_)) continue;
    for (std::optional<std::uint32_t> at = i; at && !index.holds[*at]; at = plan.stages[*at].parent)
      index.holds[*at] = true;
    if (const auto* job = std::get_if<JobAction>(&plan.stages[i].action))
      for (const auto& [name, value] : job->params)
        AddMentions(index.parameters[i], index, NamesIn(value), true);
  }
  for (std::uint32_t i = 0; i < plan.stages.size(); ++i)
    if (index.holds[i] && !plan.stages[i].when.empty())
      AddMentions(index.conditions[i], index, NamesInCondition(plan.stages[i].when), false);
  return index;
}

AskedIf Either(const AskedIf& a, const AskedIf& b) {
  return {.stage = std::max(a.stage, b.stage), .pass = a.pass || b.pass};
}

AskedIf EnteredIf(const PlanIndex& plan, std::uint32_t stage, const ApprovalScope& scope) {
  const StageSpec& spec = plan.plan->stages[stage];
  const StageFlow& flow = plan.flow.stages[stage];
  AskedIf all = OnMentions(plan.conditions[stage], scope);
  const bool some = spec.hosts == HostChoice::kFailed || spec.hosts == HostChoice::kTouched;
  const bool left_out =
      spec.hosts == HostChoice::kOk && (flow.others_follow || scope.others_follow);
  if ((some || left_out) && NeedsHosts(spec)) all = Either(all, OnEverythingBefore(scope));
  if (flow.passed_by) all = Either(all, OnStage(*flow.passed_by, scope));
  if (flow.passed_by_branch) all = Either(all, OnEverythingBefore(scope));
  if (flow.switched_by) all = Either(all, OnStage(*flow.switched_by, scope));
  return all;
}

AskedIf ParamsOf(const PlanIndex& plan, std::uint32_t stage, const ApprovalScope& scope) {
  return OnMentions(plan.parameters[stage], scope);
}

bool HoldsApproval(const RunSpec& plan, std::uint32_t stage) {
  KnownToAsk known;
  for (std::uint32_t i = 0; i < plan.stages.size(); ++i) {
    std::optional<std::uint32_t> at = i;
    while (at && *at != stage) at = plan.stages[*at].parent;
    if (at && AsksOrStarts(plan, i, known)) return true;
  }
  return false;
}

}  // namespace muster
