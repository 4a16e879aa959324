#include <algorithm>
#include <array>
#include <map>

#include "domain/approval_conditions.hpp"
#include "domain/audit_facts.hpp"

// Whether another version of a plan asks for the same approvals.
namespace muster {
namespace {

std::string_view NameOf(const RunSpec& plan, std::uint32_t stage) {
  return stage < plan.stages.size() ? std::string_view(plan.stages[stage].name) : "";
}

bool SameRule(const ApproveAction& a, const ApproveAction& b) {
  return a.by == b.by && a.not_starter == b.not_starter && a.timeout == b.timeout;
}

bool SameBetween(const StageSpec& a, const StageSpec& b) {
  if (!a.between_approve || !b.between_approve) return !a.between_approve && !b.between_approve;
  return SameRule(*a.between_approve, *b.between_approve);
}

// Whether each parameter of `plan` has the same value in `other`.
bool KeepsParams(const RunSpec& plan, const RunSpec& other) {
  return std::ranges::all_of(plan.params, [&](const Param& param) {
    return std::ranges::find(other.params, param) != other.params.end();
  });
}

// Whether parameters can decide if it is asked for.
bool LooksAtParams(const PlanApproval& approval) {
  return std::ranges::any_of(approval.path, [&](const PlanPlace& place) {
    return place.plan != approval.path.front().plan ||
           !place.plan->stages[place.stage].when.empty();
  });
}

// Two versions of a plan. What many approvals are compared by is compared once.
class Versions {
 public:
  Versions(const RunSpec& plan, const RunSpec& other)
      : one_{.plan = plan, .flow = FlowOf(plan), .lists = ListsOf(plan), .hashes = {}},
        two_{.plan = other, .flow = FlowOf(other), .lists = ListsOf(other), .hashes = {}},
        params_(KeepsParams(plan, other)) {
    for (const Section section : {Section::kMain, Section::kBranch, Section::kFinally}) {
      const auto& here = one_.lists[section];
      const auto& there = two_.lists[section];
      std::size_t& linked = linked_[section];
      std::size_t& working = working_[section];
      const std::size_t both = std::min(here.size(), there.size());
      while (linked < both && SameEdges(here[linked], there[linked])) ++linked;
      while (working < linked && SameWork(here[working], there[working])) ++working;
    }
    same_entries_ = BranchEntries(plan) == BranchEntries(other);
    const auto needs = [](const StageSpec& spec) { return InMainList(spec) && spec.needs; };
    graph_ = std::ranges::any_of(plan.stages, needs) || std::ranges::any_of(other.stages, needs);
  }

  // Whether `other` has the stage of the top level as a gate of the same kind at the same place.
  bool KeepsGate(std::uint32_t stage) {
    const StageSpec& spec = one_.plan.stages[stage];
    const auto found = two_.flow.by_name.find(spec.name);
    return found != two_.flow.by_name.end() && !two_.plan.stages[found->second].parent &&
           KeepsCourseTo(stage) && SameGate(stage, found->second);
  }

  // Whether an approval of such a gate is asked for under the same conditions.
  bool KeepsCondition(const PlanApproval& approval) const {
    if (approval.asked_if.Always()) return params_ || !LooksAtParams(approval);
    return params_ && IsSame(working_, Section::kBranch) && KeepsWorkUpTo(approval);
  }

 private:
  using Lists = std::map<Section, std::vector<std::uint32_t>>;
  using Counts = std::map<Section, std::size_t>;
  struct Version {
    const RunSpec& plan;
    PlanFlow flow;
    Lists lists;  // of the top level
    std::map<const RunSpec*, std::string> hashes;
  };

  static Lists ListsOf(const RunSpec& plan) {
    Lists lists;
    for (std::uint32_t i = 0; i < plan.stages.size(); ++i)
      if (!plan.stages[i].parent) lists[plan.stages[i].section].push_back(i);
    return lists;
  }

  // Which stages of the main list lead to which branches.
  static std::vector<std::array<std::string_view, 3>> BranchEntries(const RunSpec& plan) {
    std::vector<std::array<std::string_view, 3>> entries;
    for (const auto& spec : plan.stages)
      for (const auto& [outcome, target] : spec.next)
        if (InMainList(spec) && target < plan.stages.size() &&
            plan.stages[target].section == Section::kBranch)
          entries.push_back({spec.name, outcome, plan.stages[target].name});
    std::ranges::sort(entries);
    return entries;
  }

  bool IsSame(const Counts& same, Section section) const {
    const auto size = [&](const Version& version) {
      const auto found = version.lists.find(section);
      return found == version.lists.end() ? std::size_t{0} : found->second.size();
    };
    return same.at(section) == size(one_) && same.at(section) == size(two_);
  }

  // How many stages of its list come before it.
  std::size_t PlaceOf(std::uint32_t stage) const {
    const auto& list = one_.lists.at(one_.plan.stages[stage].section);
    return static_cast<std::size_t>(std::ranges::lower_bound(list, stage) - list.begin());
  }

  // The list a stage stands in, up to and with it, and all branches decide how the flow comes to
  // it; for a branch, also which stages lead to branches. In a graph, a stage that stood behind it
  // may stand before it by other links.
  bool KeepsCourseTo(std::uint32_t stage) const {
    const Section section = one_.plan.stages[stage].section;
    if (!IsSame(linked_, Section::kBranch)) return false;
    if (section == Section::kBranch && !same_entries_) return false;
    if (graph_ && section != Section::kFinally && !IsSame(linked_, Section::kMain)) return false;
    return PlaceOf(stage) < linked_.at(section);
  }

  bool KeepsWorkUpTo(const PlanApproval& approval) const {
    const std::uint32_t last = std::max(approval.stage, approval.asked_if.stage.value_or(0));
    if (last >= one_.plan.stages.size() || !InMainList(one_.plan.stages[last]))
      return IsSame(working_, Section::kMain);
    return PlaceOf(last) < working_.at(Section::kMain);
  }

  // Whether both lead to the same stages and need the same ones, by names: numbers of stages differ
  // between versions.
  bool SameEdges(std::uint32_t a, std::uint32_t b) const {
    const StageSpec& one = one_.plan.stages[a];
    const StageSpec& two = two_.plan.stages[b];
    const auto same_name = [&](std::uint32_t c, std::uint32_t d) {
      return NameOf(one_.plan, c) == NameOf(two_.plan, d);
    };
    if (one.name != two.name || one.needs.has_value() != two.needs.has_value()) return false;
    if (one.needs && !std::ranges::equal(*one.needs, *two.needs, same_name)) return false;
    return std::ranges::equal(one.next, two.next, [&](const auto& c, const auto& d) {
      return c.first == d.first && same_name(c.second, d.second);
    });
  }

  static std::string HashOf(Version& version, const RunSpec& child) {
    return PlanHash(child, version.hashes);
  }

  // Whether both start the same job with the same parameters, or both none.
  bool SameJob(std::uint32_t a, std::uint32_t b) {
    const auto* job = std::get_if<JobAction>(&one_.plan.stages[a].action);
    const auto* other = std::get_if<JobAction>(&two_.plan.stages[b].action);
    if (job == nullptr || other == nullptr) return job == nullptr && other == nullptr;
    if (!(*job == *other)) return false;
    const auto one = one_.plan.jobs.find(job->job);
    const auto two = two_.plan.jobs.find(job->job);
    if (one == one_.plan.jobs.end() || two == two_.plan.jobs.end()) return false;
    if (!one->second || !two->second) return false;
    return one->second == two->second || HashOf(one_, *one->second) == HashOf(two_, *two->second);
  }

  // The inner stages of both in their order, each pair with `same`.
  template <typename Same>
  bool SameInner(std::uint32_t a, std::uint32_t b, Same same) {
    return std::ranges::equal(one_.flow.stages[a].inner, two_.flow.stages[b].inner, same);
  }

  // A stage in all it does, with its inner stages and the jobs they start.
  bool SameWork(std::uint32_t a, std::uint32_t b) {
    StageSpec one = one_.plan.stages[a];
    StageSpec two = two_.plan.stages[b];
    for (StageSpec* spec : {&one, &two}) {  // numbers of stages, which SameEdges compares
      spec->parent.reset();
      spec->needs.reset();
      spec->next.clear();
    }
    return one == two && SameEdges(a, b) && SameJob(a, b) &&
           SameInner(a, b, [&](std::uint32_t c, std::uint32_t d) { return SameWork(c, d); });
  }

  // A stage in all that decides which approvals are asked for in it, when and by which rule.
  bool SameGate(std::uint32_t a, std::uint32_t b) {
    const StageSpec& one = one_.plan.stages[a];
    const StageSpec& two = two_.plan.stages[b];
    if (one.action.index() != two.action.index() || one.section != two.section) return false;
    if (one.when != two.when || one.hosts != two.hosts || one.batches != two.batches) return false;
    const auto* approve = std::get_if<ApproveAction>(&one.action);
    if (approve != nullptr && !SameRule(*approve, std::get<ApproveAction>(two.action)))
      return false;
    return SameBetween(one, two) && SameEdges(a, b) && SameJob(a, b) &&
           SameInner(a, b, [&](std::uint32_t c, std::uint32_t d) { return SameGate(c, d); });
  }

  Version one_;
  Version two_;
  bool params_ = false;
  bool graph_ = false;
  bool same_entries_ = false;
  Counts linked_;  // how many stages of each list have the same names and links, from its beginning
  Counts working_;  // likewise, and are the same in all they do
};

}  // namespace

PlanApprovals MissingIn(const RunSpec& plan, const RunSpec& other) {
  Versions versions(plan, other);
  std::map<std::uint32_t, bool> gates;
  PlanApprovals missing = ApprovalsIn(plan);
  std::erase_if(missing, [&](const PlanApproval& approval) {
    const auto [gate, added] = gates.try_emplace(approval.stage);
    if (added) gate->second = versions.KeepsGate(approval.stage);
    return gate->second && versions.KeepsCondition(approval);
  });
  return missing;
}

}  // namespace muster
