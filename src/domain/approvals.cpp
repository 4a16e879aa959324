#include "domain/approvals.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "domain/approvers.hpp"
#include "domain/template.hpp"

namespace muster {
namespace {

// Which plans and stages ask, looked up once.
class Askers {
 public:
  bool Asks(const RunSpec& plan) {
    if (const auto found = plans_.find(&plan); found != plans_.end()) return found->second;
    bool asks = false;
    for (std::uint32_t i = 0; i < plan.stages.size() && !asks; ++i) asks = Asks(plan, i);
    return plans_[&plan] = asks;
  }

  // Itself, or a job that it starts; inner stages are not looked at.
  bool Asks(const RunSpec& plan, std::uint32_t stage) {
    const StageSpec& spec = plan.stages[stage];
    if (spec.between_approve || std::holds_alternative<ApproveAction>(spec.action)) return true;
    const RunSpec* child = ChildOf(plan, spec);
    return child != nullptr && Asks(*child);
  }

  static const RunSpec* ChildOf(const RunSpec& plan, const StageSpec& stage) {
    const auto* job = std::get_if<JobAction>(&stage.action);
    if (job == nullptr) return nullptr;
    const auto child = plan.jobs.find(job->job);
    return child == plan.jobs.end() ? nullptr : child->second.get();
  }

 private:
  std::map<const RunSpec*, bool> plans_;
};

// Lists the approvals of stages of one plan.
class Collector {
 public:
  explicit Collector(const RunSpec& plan) : plan_(plan) {}

  void Add(std::uint32_t stage) {
    seen_.clear();
    cut_short_ = false;
    top_ = TopLevelOf(plan_, stage);
    Collect(plan_, stage, "");
  }

  PlanApprovals Take() {
    PlanApprovals once;
    AddApprovals(once, std::move(found_));
    return once;
  }

 private:
  void Collect(const RunSpec& plan, std::uint32_t stage, const std::string& way) {
    if (cut_short_) return;
    const StageSpec& spec = plan.stages[stage];
    if (&plan != &plan_ && ++child_stages_ > kMostChildStages) return CutShort(way);
    if (const auto* approve = std::get_if<ApproveAction>(&spec.action))
      found_.push_back({way + spec.name, top_, approve});
    if (spec.between_approve)
      found_.push_back({way + spec.name + " (between batches)", top_, &*spec.between_approve});
    if (const RunSpec* child = Askers::ChildOf(plan, spec); child != nullptr)
      CollectChild(*child, way + spec.name + " > ");
    if (std::holds_alternative<SequenceAction>(spec.action))
      for (const std::uint32_t inner : InnerOf(plan, stage)) Collect(plan, inner, way);
  }

  // Jobs start jobs without circles, but one may be started in very many places.
  void CollectChild(const RunSpec& child, const std::string& way) {
    if (!askers_.Asks(child) || !seen_.insert(&child).second) return;
    for (std::uint32_t i = 0; i < child.stages.size(); ++i)
      if (!child.stages[i].parent) Collect(child, i, way);
  }

  void CutShort(const std::string& way) {
    static const ApproveAction nobody{.message = {}, .by = {"(nobody)"}, .not_starter = true};
    cut_short_ = true;
    found_.push_back({way + "(more)", top_, &nobody});
  }

  const std::vector<std::uint32_t>& InnerOf(const RunSpec& plan, std::uint32_t stage) {
    const auto [place, added] = inner_.try_emplace(&plan);
    if (added) {
      place->second.resize(plan.stages.size());
      for (std::uint32_t i = 0; i < plan.stages.size(); ++i)
        if (plan.stages[i].parent) place->second[*plan.stages[i].parent].push_back(i);
    }
    return place->second[stage];
  }

  const RunSpec& plan_;
  Askers askers_;
  std::map<const RunSpec*, std::vector<std::vector<std::uint32_t>>> inner_;
  std::set<const RunSpec*> seen_;  // in this stage
  std::uint32_t top_ = 0;
  std::size_t child_stages_ = 0;
  bool cut_short_ = false;
  PlanApprovals found_;
};

// Whether a condition looks only at what is fixed when the run starts.
bool IsFixed(const std::string& when) {
  if (when.empty()) return true;
  const auto names = NamesInCondition(when);
  return names && std::ranges::all_of(*names, [](const TemplateName& name) {
           if (name.path.empty()) return false;
           const std::string& root = name.path.front();
           const bool of_run = root == "run" && name.path.size() > 1 && name.path[1] != "pass";
           return of_run || root == "params" || root == "targets";
         });
}

// Whether a stage does something only on hosts that came through everything before it, or does
// nothing but wait and tell.
bool IsForHostsOk(const StageSpec& stage) {
  if (WorksOnHosts(stage) || std::holds_alternative<SequenceAction>(stage.action))
    return stage.hosts == HostChoice::kOk;
  return std::holds_alternative<ApproveAction>(stage.action) ||
         std::holds_alternative<WaitAction>(stage.action) ||
         std::holds_alternative<NotifyAction>(stage.action);
}

// How often an approval between batches is asked follows from the number of hosts that are left,
// and for the first batch it is never asked. So it can stand only for work on those hosts: whether
// nothing else comes behind it.
bool ApprovalsCoverWhatFollows(const RunSpec& plan) {
  const auto first = std::ranges::find_if(plan.stages, [](const StageSpec& stage) {
    return InMainList(stage) && stage.between_approve;
  });
  if (first == plan.stages.end()) return true;
  const auto after = StagesAfter(plan, static_cast<std::uint32_t>(first - plan.stages.begin()));
  for (std::uint32_t i = 0; i < plan.stages.size(); ++i)
    if (std::ranges::binary_search(after, TopLevelOf(plan, i)) && !IsForHostsOk(plan.stages[i]))
      return false;
  return true;
}

// Whether the approvals of this stage are asked whenever the main list comes to it.
bool AsksInItsTurn(const RunSpec& plan, const StageSpec& stage, Askers& askers) {
  if (!InMainList(stage) || !IsFixed(stage.when)) return false;
  if (std::holds_alternative<ApproveAction>(stage.action)) return true;
  if (const RunSpec* child = Askers::ChildOf(plan, stage); child != nullptr && askers.Asks(*child))
    return false;
  return stage.hosts == HostChoice::kOk || stage.hosts == HostChoice::kAll;
}

bool LeadsIntoMainList(const RunSpec& plan, const StageSpec& stage) {
  return std::ranges::any_of(stage.next, [&](const auto& item) {
    return item.second < plan.stages.size() && InMainList(plan.stages[item.second]);
  });
}

std::vector<const StageSpec*> UpToLastApproval(const RunSpec& plan) {
  std::vector<const StageSpec*> stages;
  std::size_t up_to = 0;
  for (const StageSpec& stage : plan.stages) {
    if (!InMainList(stage)) continue;
    stages.push_back(&stage);
    if (WantedAnswer(stage) != nullptr) up_to = stages.size();
  }
  stages.resize(up_to);
  return stages;
}

// Where a stage's `switch` leads to, by outcome; "" is the end of the list.
std::map<std::string, std::string> WaysOut(const RunSpec& plan, const StageSpec& stage) {
  std::map<std::string, std::string> ways;
  for (const auto& [outcome, target] : stage.next)
    ways[outcome] = target < plan.stages.size() ? plan.stages[target].name : "";
  return ways;
}

bool AsksTheSame(const RunSpec& plan_a, const StageSpec& a, const RunSpec& plan_b,
                 const StageSpec& b) {
  const auto* asked = WantedAnswer(a);
  const auto* other = WantedAnswer(b);
  if ((asked == nullptr) != (other == nullptr) || a.name != b.name) return false;
  if (asked == nullptr) return true;
  return a.action.index() == b.action.index() && a.when == b.when && a.hosts == b.hosts &&
         a.batches == b.batches && asked->by == other->by &&
         asked->not_starter == other->not_starter && asked->timeout == other->timeout &&
         WaysOut(plan_a, a) == WaysOut(plan_b, b);
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

// For each stage: which stages of its list need it, by `needs` or as the one before.
std::vector<std::vector<std::uint32_t>> NeededBy(const RunSpec& plan) {
  std::vector<std::vector<std::uint32_t>> by(plan.stages.size());
  std::optional<std::uint32_t> before;
  for (std::uint32_t i = 0; i < plan.stages.size(); ++i) {
    if (!InMainList(plan.stages[i])) continue;
    if (const auto& needs = plan.stages[i].needs) {
      for (const std::uint32_t need : *needs)
        if (need < by.size()) by[need].push_back(i);
    } else if (before) {
      by[*before].push_back(i);
    }
    before = i;
  }
  return by;
}

}  // namespace

void AddApprovals(PlanApprovals& to, PlanApprovals more) {
  std::set<std::tuple<std::uint32_t, const ApproveAction*>> known;
  for (const auto& approval : to) known.emplace(approval.stage, approval.wanted);
  for (auto& approval : more)
    if (known.emplace(approval.stage, approval.wanted).second) to.push_back(std::move(approval));
}

PlanApprovals ApprovalsIn(const RunSpec& plan, std::uint32_t stage) {
  Collector collector(plan);
  collector.Add(stage);
  return collector.Take();
}

PlanApprovals ApprovalsIn(const RunSpec& plan) {
  Collector collector(plan);
  for (std::uint32_t i = 0; i < plan.stages.size(); ++i)
    if (!plan.stages[i].parent) collector.Add(i);
  return collector.Take();
}

std::vector<bool> HoldApprovals(const RunSpec& plan) {
  Askers askers;
  std::vector<bool> holds(plan.stages.size());
  for (std::uint32_t i = 0; i < plan.stages.size(); ++i) {
    if (!askers.Asks(plan, i)) continue;
    for (std::optional<std::uint32_t> at = i; at && !holds[*at]; at = plan.stages[*at].parent)
      holds[*at] = true;
  }
  return holds;
}

bool HoldsApproval(const RunSpec& plan) { return Askers().Asks(plan); }

bool AsksInOrder(const RunSpec& plan) {
  Askers askers;
  for (std::uint32_t i = 0; i < plan.stages.size(); ++i)
    if (askers.Asks(plan, i) && !AsksInItsTurn(plan, plan.stages[i], askers)) return false;
  return std::ranges::none_of(plan.stages,
                              [&](const StageSpec& stage) {
                                return stage.needs.has_value() || LeadsIntoMainList(plan, stage);
                              }) &&
         ApprovalsCoverWhatFollows(plan);
}

bool AsksAlike(const RunSpec& plan, const RunSpec& other) {
  if (!AsksInOrder(plan) || !AsksInOrder(other)) return false;
  const auto before = UpToLastApproval(plan);
  const auto after = UpToLastApproval(other);
  return std::ranges::equal(before, after, [&](const auto* a, const auto* b) {
    return AsksTheSame(plan, *a, other, *b);
  });
}

bool InMainList(const StageSpec& stage) { return !stage.parent && stage.section == Section::kMain; }

std::uint32_t TopLevelOf(const RunSpec& plan, std::uint32_t stage) {
  while (plan.stages[stage].parent) stage = *plan.stages[stage].parent;
  return stage;
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
