#include "domain/host_result.hpp"

#include <array>

#include "domain/approvals.hpp"

namespace muster {
namespace {

constexpr std::array kWorstFirst{TaskState::kFailed,  TaskState::kTimedOut, TaskState::kKilled,
                                 TaskState::kLost,    TaskState::kRefused,  TaskState::kUnreachable,
                                 TaskState::kSkipped, TaskState::kSucceeded};

bool IsAboutHosts(const StageSpec& stage) {
  return WorksOnHosts(stage) || std::holds_alternative<SequenceAction>(stage.action) ||
         std::holds_alternative<JobAction>(stage.action);
}

bool IsGraph(const RunSpec& plan) {
  return std::ranges::any_of(
      plan.stages, [](const StageSpec& stage) { return InMainList(stage) && stage.needs; });
}

// In a graph, whether some stage of the main list is not among those that `last` waits for.
bool HasOthersBeside(const RunSpec& plan, std::uint32_t last) {
  std::vector<bool> before(plan.stages.size());
  before[last] = true;
  std::vector<std::uint32_t> open{last};
  std::optional<std::uint32_t> previous;
  std::vector<std::optional<std::uint32_t>> listed_before(plan.stages.size());
  for (std::uint32_t i = 0; i < plan.stages.size(); ++i) {
    if (!InMainList(plan.stages[i])) continue;
    listed_before[i] = std::exchange(previous, i);
  }
  const auto add = [&](std::uint32_t stage) {
    if (before[stage]) return;
    before[stage] = true;
    open.push_back(stage);
  };
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    if (const auto& needs = plan.stages[at].needs)
      std::ranges::for_each(*needs, add);
    else if (listed_before[at])
      add(*listed_before[at]);
  }
  for (std::uint32_t i = 0; i < plan.stages.size(); ++i)
    if (InMainList(plan.stages[i]) && IsAboutHosts(plan.stages[i]) && !before[i]) return true;
  return false;
}

bool InnerFollow(const RunSpec& plan, std::uint32_t stage) {
  const StageSpec& inner = plan.stages[stage];
  if (!inner.parent || inner.section == Section::kBetween) return false;
  for (std::uint32_t i = 0; i < plan.stages.size(); ++i) {
    const StageSpec& other = plan.stages[i];
    const bool after = i > stage || other.section == Section::kBetween;
    if (other.parent == inner.parent && after && IsAboutHosts(other)) return true;
  }
  return false;
}

}  // namespace

bool IsWorse(TaskState a, TaskState b) noexcept {
  return std::ranges::find(kWorstFirst, a) < std::ranges::find(kWorstFirst, b);
}

Onward OnwardFrom(const RunSpec& plan, std::uint32_t stage) {
  for (auto at = std::optional(stage); at; at = plan.stages[*at].parent)
    if (InnerFollow(plan, *at)) return Onward::kMore;
  const std::uint32_t top = TopLevelOf(plan, stage);
  if (plan.stages[top].section == Section::kFinally) return Onward::kNone;
  const bool follow = std::ranges::any_of(StagesAfter(plan, top), [&](std::uint32_t after) {
    return IsAboutHosts(plan.stages[after]);
  });
  if (follow) return Onward::kMore;
  const bool beside = InMainList(plan.stages[top]) && IsGraph(plan) && HasOthersBeside(plan, top);
  return beside ? Onward::kMore : Onward::kNone;
}

}  // namespace muster
