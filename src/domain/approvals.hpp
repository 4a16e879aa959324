#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "domain/run.hpp"

// Which approvals a plan asks for, and which of them a change of its course would leave out.
namespace muster {

// What decides whether an approval is asked for, apart from what is fixed when the run starts.
struct AskedIf {
  static constexpr std::uint32_t kAnyStage = UINT32_MAX;  // in a loop or a graph: each of them

  // The last stage of the plan's top level whose result it depends on, by `when`, by `switch`, by
  // the hosts that are left, or by a parameter of the job it stands in; none: on no stage.
  std::optional<std::uint32_t> stage = {};
  bool pass = false;  // its `when` names run.pass

  bool Always() const { return !stage && !pass; }
  friend bool operator==(const AskedIf&, const AskedIf&) = default;
  friend auto operator<=>(const AskedIf&, const AskedIf&) = default;
};

// A stage, and the plan it stands in.
struct PlanPlace {
  const RunSpec* plan = nullptr;
  std::uint32_t stage = 0;
};

// An approval, wherever it stands in a plan.
struct PlanApproval {
  std::string name;         // "ask", "roll (between batches)", "deploy > ask" in a job it starts
  std::uint32_t stage = 0;  // of the plan: the one that asks, or that holds or starts what asks
  const ApproveAction* wanted = nullptr;  // part of the plan
  std::vector<PlanPlace> path = {};       // from `stage` down to the one that asks
  AskedIf asked_if = {};
};
using PlanApprovals = std::vector<PlanApproval>;
// Adds those that are not in the list yet: of another stage, by another rule's place, or under
// other conditions. Add many at once: each call looks through the whole list.
void AddApprovals(PlanApprovals& to, PlanApprovals more);

// So many stages of child jobs are looked at for one list. If a plan has more, the rest of each
// stage stands in the list as one approval that nobody can give.
inline constexpr std::size_t kMostChildStages = 100'000;

// The approvals of a stage: its own, between its batches, of its inner stages, and of the jobs that
// any of them starts. A job that a stage of the top level starts in several places under the same
// conditions counts once there.
PlanApprovals ApprovalsIn(const RunSpec& plan, std::uint32_t stage);
// Those of several stages. It takes much less time than one call for each.
PlanApprovals ApprovalsIn(const RunSpec& plan, std::span<const std::uint32_t> stages);
// Those of the whole plan.
PlanApprovals ApprovalsIn(const RunSpec& plan);

// Whether a stage has approvals, which is quicker than listing them.
bool HoldsApproval(const RunSpec& plan, std::uint32_t stage);

// Whether a stage is one of the main list.
bool InMainList(const StageSpec& stage);

// The stage of the top level that holds `stage`, or `stage` itself.
std::uint32_t TopLevelOf(const RunSpec& plan, std::uint32_t stage);

// Approvals that may not be asked for because the results of `stage` are not those that the flow
// would have made: they depend on it, or on a stage behind it.
PlanApprovals DependingOn(const RunSpec& plan, std::uint32_t stage);
// The same for the results of any of several stages.
PlanApprovals DependingOn(const RunSpec& plan, std::span<const std::uint32_t> stages);

// Approvals that would not be asked for, or perhaps not, if the stage were skipped: its own, those
// its `switch` could lead to, and those that depend on it.
PlanApprovals LeftOutBySkipping(const RunSpec& plan, std::uint32_t stage);

// Stages of the top level that come before `stage`: earlier in the main list, needed by it or by
// one of those, or a branch that one of them can switch to.
std::vector<std::uint32_t> StagesBefore(const RunSpec& plan, std::uint32_t stage);

// Stages of the top level that the flow may come to after it entered `stage`, without the `finally`
// ones: later in the main list, in need of one of these, or where a `switch` leads to.
std::vector<std::uint32_t> StagesAfter(const RunSpec& plan, std::uint32_t stage);

// Approvals of `plan` that are not asked for at the same place in `other`. A stage of the top level
// brings its approvals along if `other` has it with the same inner stages, rules, conditions,
// batches and child jobs, behind stages of the same names that lead on in the same way; scripts may
// differ. If one `needs` others in the main list, the whole list has the same names and links. The
// stages that a condition looks at must be the same in all they do.
PlanApprovals MissingIn(const RunSpec& plan, const RunSpec& other);

}  // namespace muster
