#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "domain/run.hpp"

// Which approvals a plan asks for, and whether the course of a run decides about them.
namespace muster {

// An approval, wherever it stands in a plan.
struct PlanApproval {
  std::string name;         // "ask", "roll (between batches)", "deploy > ask" in a job it starts
  std::uint32_t stage = 0;  // of the plan's top level: asks, or holds or starts what asks
  const ApproveAction* wanted = nullptr;  // part of the plan
};
using PlanApprovals = std::vector<PlanApproval>;
// Adds those that are not in the list yet: of another stage, or by another rule's place. Add many
// at once: each call looks through the whole list.
void AddApprovals(PlanApprovals& to, PlanApprovals more);

// So many stages of child jobs are looked at for one list. If a plan has more, the rest of each
// stage stands in the list as one approval that nobody can give.
inline constexpr std::size_t kMostChildStages = 100'000;

// The approvals of a stage: its own, between its batches, of its inner stages, and of the jobs that
// any of them starts. A job that a stage of the top level starts in several places counts once
// there.
PlanApprovals ApprovalsIn(const RunSpec& plan, std::uint32_t stage);
// Those of the whole plan.
PlanApprovals ApprovalsIn(const RunSpec& plan);

// Whether the plan has approvals, and for each of its stages, whether it has some: itself or inside
// it. Quicker than listing them.
bool HoldsApproval(const RunSpec& plan);
std::vector<bool> HoldApprovals(const RunSpec& plan);

// Whether every approval of the plan is asked in its turn, whatever the stages before it find: all
// of them stand in the main list, which runs from the first stage to the last, and their conditions
// look only at what is fixed when the run starts. A plan with an approval in a branch, in
// `finally`, inside a stage or in a child job, with `needs`, or with a `switch` into the main list
// does not. Neither does one whose approval between batches is for failed or touched hosts, or is
// followed by more than work on the hosts that came through: on fewer hosts there are fewer
// batches.
bool AsksInOrder(const RunSpec& plan);

// Whether `other` asks in order for all that `plan` asks for in order: up to the last approval its
// main list has the same stages by name, and the same rules of who may answer and when it is asked.
bool AsksAlike(const RunSpec& plan, const RunSpec& other);

// Whether a stage is one of the main list.
bool InMainList(const StageSpec& stage);

// The stage of the top level that holds `stage`, or `stage` itself.
std::uint32_t TopLevelOf(const RunSpec& plan, std::uint32_t stage);

// Stages of the top level that the flow may come to after it entered `stage`, without the `finally`
// ones: later in the main list, in need of one of these, or where a `switch` leads to.
std::vector<std::uint32_t> StagesAfter(const RunSpec& plan, std::uint32_t stage);

}  // namespace muster
