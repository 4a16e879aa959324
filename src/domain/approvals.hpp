#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "domain/run.hpp"

// Which approvals a plan asks for, and which of them a change of its course would leave out.
namespace muster {

// An approval, wherever it stands in a plan.
struct PlanApproval {
  std::string name;         // "ask", "roll (between batches)", "deploy > ask" in a job it starts
  std::uint32_t stage = 0;  // of the plan: the one that asks, or that holds or starts what asks
  const ApproveAction* wanted = nullptr;  // part of the plan
};
using PlanApprovals = std::vector<PlanApproval>;

// The approvals of a stage: its own, between its batches, of its inner stages, and of the jobs that
// any of them starts. A job that is started in several places counts once.
PlanApprovals ApprovalsIn(const RunSpec& plan, std::uint32_t stage);
// Those of the whole plan.
PlanApprovals ApprovalsIn(const RunSpec& plan);

// Approvals that would not be asked for if the stage were skipped: its own, those its `switch`
// could lead to, and those whose `when` looks at it.
PlanApprovals LeftOutBySkipping(const RunSpec& plan, std::uint32_t stage);

// Stages of the top level that come before `stage`: earlier in the main list, needed by one of
// those, or a branch that one of them can switch to.
std::vector<std::uint32_t> StagesBefore(const RunSpec& plan, std::uint32_t stage);

// Approvals of `plan` that are not asked for at the same place in `other`: by the same rule, in a
// stage of the same name, behind stages of the same names.
PlanApprovals MissingIn(const RunSpec& plan, const RunSpec& other);

}  // namespace muster
