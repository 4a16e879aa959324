#include "domain/approvals.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "domain/approval_conditions.hpp"

namespace muster {
namespace {

// The way to a stage, from the plan that a run would pin.
struct Way {
  std::string name;  // of what leads there, with " > " behind it
  std::vector<PlanPlace> path;
  AskedIf asked_if;
  ApprovalScope scope;
};

// Lists the approvals of stages of one plan.
class Collector {
 public:
  Collector(ApprovalIndex& index, const RunSpec& plan) : index_(index), plan_(index.Of(plan)) {}

  void Add(std::uint32_t stage) {
    seen_.clear();
    cut_short_ = false;
    const std::uint32_t top = TopLevelOf(*plan_.plan, stage);
    Way way{.name = {}, .path = {}, .asked_if = {}, .scope = {.top = top}};
    std::vector<std::uint32_t> holders;
    for (std::uint32_t at = stage; at != top;)
      holders.push_back(at = *plan_.plan->stages[at].parent);
    for (auto holder = holders.rbegin(); holder != holders.rend(); ++holder)
      Enter(plan_, *holder, way);
    CollectStage(plan_, stage, std::move(way));
  }

  PlanApprovals Take() {
    if (plan_.flow.may_come_back)
      for (auto& approval : found_)
        if (approval.asked_if.stage) approval.asked_if.stage = AskedIf::kAnyStage;
    PlanApprovals once;
    AddApprovals(once, std::move(found_));
    return once;
  }

 private:
  static void Enter(const PlanIndex& plan, std::uint32_t stage, Way& way) {
    way.path.push_back({plan.plan, stage});
    way.asked_if = Either(way.asked_if, EnteredIf(plan, stage, way.scope));
  }

  void CollectStage(const PlanIndex& plan, std::uint32_t stage, Way way) {
    if (!plan.holds[stage] || cut_short_) return;
    if (way.scope.child && ++child_stages_ > kMostChildStages) return CutShort(way);
    const StageSpec& spec = plan.plan->stages[stage];
    Enter(plan, stage, way);
    const auto add = [&](std::string_view behind, const ApproveAction& wanted) {
      found_.push_back({way.name + spec.name + std::string(behind), way.scope.top, &wanted,
                        way.path, way.asked_if});
    };
    if (const auto* approve = std::get_if<ApproveAction>(&spec.action)) add("", *approve);
    if (spec.between_approve) add(" (between batches)", *spec.between_approve);
    if (const auto* job = std::get_if<JobAction>(&spec.action))
      CollectChild(plan, stage, *job, way);
    for (const std::uint32_t inner : plan.flow.stages[stage].inner) CollectStage(plan, inner, way);
  }

  // Jobs start jobs without circles, but one may be started in very many places.
  void CollectChild(const PlanIndex& plan, std::uint32_t stage, const JobAction& job, Way way) {
    const auto child = plan.plan->jobs.find(job.job);
    if (child == plan.plan->jobs.end() || !child->second) return;
    way.name += plan.plan->stages[stage].name + " > ";
    way.scope.params = ParamsOf(plan, stage, way.scope);
    way.scope.others_follow = way.scope.others_follow || plan.flow.stages[stage].others_follow;
    way.scope.child = true;
    if (!seen_.emplace(child->second.get(), way.asked_if, way.scope).second) return;
    const PlanIndex& below = index_.Of(*child->second);
    for (std::uint32_t i = 0; i < child->second->stages.size(); ++i)
      if (below.holds[i] && !child->second->stages[i].parent) CollectStage(below, i, way);
  }

  void CutShort(const Way& way) {
    static const ApproveAction nobody{.message = {}, .by = {"(nobody)"}, .not_starter = true};
    cut_short_ = true;
    found_.push_back({way.name + "(more)",
                      way.scope.top,
                      &nobody,
                      way.path,
                      {.stage = AskedIf::kAnyStage, .pass = true}});
  }

  ApprovalIndex& index_;
  const PlanIndex& plan_;
  std::set<std::tuple<const RunSpec*, AskedIf, ApprovalScope>> seen_;  // in this stage
  std::size_t child_stages_ = 0;
  bool cut_short_ = false;
  PlanApprovals found_;
};

PlanApprovals Collected(ApprovalIndex& index, const RunSpec& plan,
                        std::span<const std::uint32_t> stages) {
  Collector collector(index, plan);
  for (const std::uint32_t stage : stages) collector.Add(stage);
  return collector.Take();
}

std::vector<std::uint32_t> TopLevel(const RunSpec& plan) {
  std::vector<std::uint32_t> stages(plan.stages.size());
  std::iota(stages.begin(), stages.end(), 0U);
  std::erase_if(stages, [&](std::uint32_t i) { return plan.stages[i].parent.has_value(); });
  return stages;
}

// The first stage of the plan whose results may change with those of `stage`. A branch stands
// behind the main list, but runs before the stage that it leads back to.
std::uint32_t FirstChangedBy(const PlanIndex& index, std::uint32_t stage) {
  const std::uint32_t top = TopLevelOf(*index.plan, stage);
  return std::min(top, index.flow.stages[top].leads_back_to.value_or(top));
}

PlanApprovals DependingIn(ApprovalIndex& index, const RunSpec& plan,
                          std::span<const std::uint32_t> stages) {
  if (stages.empty()) return {};
  std::uint32_t first = AskedIf::kAnyStage;
  for (const std::uint32_t stage : stages)
    first = std::min(first, FirstChangedBy(index.Of(plan), stage));
  PlanApprovals found = Collected(index, plan, TopLevel(plan));
  std::erase_if(found, [&](const PlanApproval& approval) {
    return !approval.asked_if.stage || *approval.asked_if.stage < first;
  });
  return found;
}

// Stages to look at, each once.
class OpenStages {
 public:
  explicit OpenStages(std::size_t size) : known_(size) {}

  void Add(std::uint32_t stage) {
    if (stage >= known_.size() || known_[stage]) return;
    known_[stage] = true;
    open_.push_back(stage);
  }
  void AddTargets(const StageSpec& spec) {
    for (const auto& [outcome, target] : spec.next) Add(target);
  }
  std::optional<std::uint32_t> Next() {
    if (open_.empty()) return std::nullopt;
    const std::uint32_t stage = open_.back();
    open_.pop_back();
    return stage;
  }
  std::vector<std::uint32_t> All() const {
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = 0; i < known_.size(); ++i)
      if (known_[i]) all.push_back(i);
    return all;
  }

 private:
  std::vector<bool> known_;
  std::vector<std::uint32_t> open_;
};

// What a stage of the main list waits for: its needs, or the one before it.
std::vector<std::uint32_t> NeedsOf(const RunSpec& plan, std::uint32_t stage) {
  if (const auto& needs = plan.stages[stage].needs) return *needs;
  if (!InMainList(plan.stages[stage])) return {};
  for (std::uint32_t i = stage; i-- > 0;)
    if (InMainList(plan.stages[i])) return {i};
  return {};
}

}  // namespace

void AddApprovals(PlanApprovals& to, PlanApprovals more) {
  std::set<std::tuple<std::uint32_t, const ApproveAction*, AskedIf>> known;
  for (const auto& approval : to) known.emplace(approval.stage, approval.wanted, approval.asked_if);
  for (auto& approval : more)
    if (known.emplace(approval.stage, approval.wanted, approval.asked_if).second)
      to.push_back(std::move(approval));
}

bool InMainList(const StageSpec& stage) { return !stage.parent && stage.section == Section::kMain; }

std::uint32_t TopLevelOf(const RunSpec& plan, std::uint32_t stage) {
  while (plan.stages[stage].parent) stage = *plan.stages[stage].parent;
  return stage;
}

PlanApprovals ApprovalsIn(const RunSpec& plan, std::uint32_t stage) {
  if (!HoldsApproval(plan, stage)) return {};
  return ApprovalsIn(plan, std::span(&stage, 1));
}

PlanApprovals ApprovalsIn(const RunSpec& plan, std::span<const std::uint32_t> stages) {
  ApprovalIndex index;
  return Collected(index, plan, stages);
}

PlanApprovals ApprovalsIn(const RunSpec& plan) { return ApprovalsIn(plan, TopLevel(plan)); }

PlanApprovals DependingOn(const RunSpec& plan, std::uint32_t stage) {
  return DependingOn(plan, std::span(&stage, 1));
}

PlanApprovals DependingOn(const RunSpec& plan, std::span<const std::uint32_t> stages) {
  ApprovalIndex index;
  return DependingIn(index, plan, stages);
}

PlanApprovals LeftOutBySkipping(const RunSpec& plan, std::uint32_t stage) {
  OpenStages reached(plan.stages.size());
  reached.AddTargets(plan.stages[stage]);
  while (const auto at = reached.Next()) reached.AddTargets(plan.stages[*at]);
  std::vector<std::uint32_t> stages = reached.All();
  stages.insert(stages.begin(), stage);
  ApprovalIndex index;
  PlanApprovals found = Collected(index, plan, stages);
  AddApprovals(found, DependingIn(index, plan, std::span(&stage, 1)));
  return found;
}

std::vector<std::uint32_t> StagesBefore(const RunSpec& plan, std::uint32_t stage) {
  OpenStages before(plan.stages.size());
  for (std::uint32_t i = 0; i < stage; ++i)
    if (InMainList(plan.stages[i])) before.Add(i);
  for (const std::uint32_t need : NeedsOf(plan, stage)) before.Add(need);
  while (const auto at = before.Next()) {
    if (*at == stage) continue;
    for (const std::uint32_t need : NeedsOf(plan, *at)) before.Add(need);
    for (const auto& [outcome, target] : plan.stages[*at].next)
      if (target < plan.stages.size() && plan.stages[target].section == Section::kBranch)
        before.Add(target);
  }
  auto all = before.All();
  std::erase(all, stage);
  return all;
}

std::vector<std::uint32_t> StagesAfter(const RunSpec& plan, std::uint32_t stage) {
  const auto needed_by = NeededBy(plan);
  OpenStages behind(plan.stages.size());
  std::uint32_t listed = static_cast<std::uint32_t>(plan.stages.size());  // from here on
  const bool graph = std::ranges::any_of(
      plan.stages, [](const StageSpec& spec) { return InMainList(spec) && spec.needs; });
  const auto look = [&](std::uint32_t at) {
    behind.AddTargets(plan.stages[at]);
    for (const std::uint32_t needing : needed_by[at]) behind.Add(needing);
    // In a graph, the place in the list says nothing about the order.
    if (graph || !InMainList(plan.stages[at])) return;
    for (std::uint32_t i = at + 1; i < listed; ++i)
      if (InMainList(plan.stages[i])) behind.Add(i);
    listed = std::min(listed, at + 1);
  };
  look(stage);
  while (const auto at = behind.Next()) look(*at);
  return behind.All();
}

}  // namespace muster
