#include "domain/approval_flow.hpp"

#include <algorithm>
#include <utility>

#include "domain/approvals.hpp"

namespace muster {
namespace {

using StageList = std::vector<std::uint32_t>;

bool IsFailure(std::string_view outcome) { return outcome == "failed" || outcome == "timed_out"; }

// Work that is done although no host came through everything so far. Requests need no host.
bool IsForOthers(const StageSpec& spec) {
  if (NeedsHosts(spec)) return spec.hosts != HostChoice::kOk;
  return spec.section != Section::kFinally && std::holds_alternative<HttpAction>(spec.action);
}

class FlowFinder {
 public:
  explicit FlowFinder(const RunSpec& plan) : plan_(plan), sources_(plan.stages.size()) {
    flow_.stages.resize(plan.stages.size());
    for (std::uint32_t i = 0; i < plan.stages.size(); ++i) {
      const StageSpec& spec = plan.stages[i];
      flow_.by_name.emplace(spec.name, i);
      if (spec.parent) {
        flow_.stages[*spec.parent].inner.push_back(i);
        continue;
      }
      if (spec.section == Section::kMain) main_.push_back(i);
      for (const auto& [outcome, target] : spec.next)
        if (target < plan.stages.size()) sources_[target].push_back(i);
    }
  }

  PlanFlow Find() {
    FindBranches();
    FindPassing();
    FindOthers();
    return std::move(flow_);
  }

 private:
  bool IsMain(std::uint32_t stage) const { return InMainList(plan_.stages[stage]); }
  bool IsBranch(std::uint32_t stage) const {
    return !plan_.stages[stage].parent && plan_.stages[stage].section == Section::kBranch;
  }

  // Each branch is marked once: from the last stage of the main list on with the last one that can
  // lead to it, and from the first one on with the first one that it leads back to.
  void FindBranches() {
    std::vector<std::optional<std::uint32_t>> back(plan_.stages.size());
    std::vector<std::optional<std::uint32_t>> last(plan_.stages.size());
    for (const std::uint32_t start : main_) {
      StageList open{start};
      while (!open.empty()) {
        const std::uint32_t at = open.back();
        open.pop_back();
        for (const std::uint32_t source : sources_[at])
          if (IsBranch(source) && !back[source]) {
            back[source] = start;
            open.push_back(source);
          }
      }
    }
    for (std::size_t i = main_.size(); i-- > 0;) {
      StageList open{main_[i]};
      while (!open.empty()) {
        const std::uint32_t at = open.back();
        open.pop_back();
        for (const auto& [outcome, target] : plan_.stages[at].next)
          if (target < plan_.stages.size() && IsBranch(target) && !last[target]) {
            last[target] = main_[i];
            open.push_back(target);
          }
      }
    }
    for (std::uint32_t i = 0; i < plan_.stages.size(); ++i) {
      flow_.stages[i].leads_back_to = back[i];
      if (back[i]) flow_.stages[i].switched_by = last[i];
    }
    for (const std::uint32_t stage : main_) {
      if (plan_.stages[stage].needs) flow_.may_come_back = true;
      for (const auto& [outcome, target] : plan_.stages[stage].next) {
        if (target >= plan_.stages.size()) continue;
        const auto first = IsMain(target) ? std::optional(target) : back[target];
        if (first && *first <= stage) flow_.may_come_back = true;
      }
    }
  }

  // A branch that is for failures does not do the work of the main list, unless it leads back into
  // it.
  void FindPassing() {
    std::optional<std::uint32_t> furthest_of_branches;
    for (const std::uint32_t stage : main_)
      if (std::ranges::any_of(sources_[stage], [&](std::uint32_t i) { return IsBranch(i); }))
        furthest_of_branches = stage;
    struct Jump {
      std::uint32_t from = 0;
      std::uint32_t to = 0;
    };
    std::vector<Jump> jumps;  // over the stage that is looked at, or shorter ones before a longer
    std::optional<std::uint32_t> aside;
    for (const std::uint32_t stage : main_) {
      while (!jumps.empty() && jumps.back().to <= stage) jumps.pop_back();
      StageFlow& flow = flow_.stages[stage];
      flow.passed_by = aside;
      if (!jumps.empty()) flow.passed_by = std::max(aside, std::optional(jumps.back().from));
      flow.passed_by_branch = furthest_of_branches && *furthest_of_branches > stage;
      Jump jump{.from = stage, .to = stage};
      for (const auto& [outcome, target] : plan_.stages[stage].next) {
        if (target >= plan_.stages.size()) continue;
        if (IsMain(target)) jump.to = std::max(jump.to, target);
        if (IsBranch(target) && !IsFailure(outcome)) aside = stage;
      }
      if (jump.to > stage) jumps.push_back(jump);
    }
  }

  // Goes back from the stages that are for other hosts, as StagesAfter goes forth.
  void FindOthers() {
    bool always = false;
    StageList open;
    for (std::uint32_t i = 0; i < plan_.stages.size(); ++i) {
      const StageSpec& spec = plan_.stages[i];
      if (spec.parent || !IsForOthers(spec)) continue;
      if (spec.section == Section::kFinally) always = true;
      open.push_back(i);
    }
    const auto mark = [&](std::uint32_t stage) {
      if (std::exchange(flow_.stages[stage].others_follow, true)) return;
      open.push_back(stage);
    };
    std::size_t marked = 0;  // of the main list, from its beginning
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      for (const std::uint32_t source : sources_[at]) mark(source);
      if (!IsMain(at)) continue;
      for (; marked < main_.size() && main_[marked] < at; ++marked) mark(main_[marked]);
      if (const auto& needs = plan_.stages[at].needs)
        for (const std::uint32_t need : *needs) mark(need);
    }
    for (std::uint32_t i = 0; i < plan_.stages.size(); ++i)
      if (!plan_.stages[i].parent) MarkInner(i, always);
  }

  void MarkInner(std::uint32_t stage, bool follow) {
    follow = follow || flow_.stages[stage].others_follow;
    flow_.stages[stage].others_follow = follow;
    const StageList& inner = flow_.stages[stage].inner;
    for (std::size_t i = inner.size(); i-- > 0;) {
      MarkInner(inner[i], follow);
      follow = follow || IsForOthers(plan_.stages[inner[i]]);
    }
  }

  const RunSpec& plan_;
  PlanFlow flow_;
  StageList main_;
  std::vector<StageList> sources_;  // which stages of the top level switch to it
};

}  // namespace

PlanFlow FlowOf(const RunSpec& plan) { return FlowFinder(plan).Find(); }

bool NeedsHosts(const StageSpec& stage) {
  return WorksOnHosts(stage) || std::holds_alternative<SequenceAction>(stage.action) ||
         std::holds_alternative<JobAction>(stage.action);
}

std::vector<std::vector<std::uint32_t>> NeededBy(const RunSpec& plan) {
  std::vector<StageList> by(plan.stages.size());
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

}  // namespace muster
