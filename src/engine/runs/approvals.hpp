#pragma once

#include <string>
#include <vector>

#include "domain/approvals.hpp"
#include "engine/turn.hpp"

// Who may answer an approval, and who may go around one.
//
// An approval asks for a person's consent to what the run does next. Skipping it, or beginning
// behind it, has the same effect as approving it, so it needs the same right.
namespace muster::engine {

// The open runs above this one, the nearest first.
std::vector<const Run*> RunsAbove(const State& state, const OpenRun& run);

// As in domain/approvers.hpp.
std::vector<std::string> StartersOf(const State& state, const OpenRun& run);

// From now on `name` is one of them, also for the open runs above it. The rows are kept.
void AddStarter(Turn& turn, OpenRun& run, const std::string& name);

// kDenied: the caller may not answer this approval of the run. `starters`: see StartersOf.
Result<> CheckApprover(const State& state, const std::vector<std::string>& starters,
                       const ApproveAction& wanted, const Caller& caller);

// An act that would leave approvals out.
struct GoingAround {
  std::string act;  // "skipping stage 'ask'"
  PlanApprovals approvals;
  std::string from = {};           // the stage a retry begins with; "" when it is none
  const RunSpec* other = nullptr;  // the plan that a retry brings
};
// kDenied unless the caller may answer each of these approvals.
Result<> CheckGoingAround(const State& state, const std::vector<std::string>& starters,
                          const GoingAround& around, const Caller& caller);

// Approvals of the open runs above this one that may not be asked for because an act changes how
// it ends.
PlanApprovals DependingAbove(const State& state, const OpenRun& run);

// kDenied unless the caller may answer each approval that an act could leave out by changing the
// results of `stage`: in this run, and in those above it. `act` is as in GoingAround.
Result<> CheckInfluence(const State& state, const OpenRun& run, std::uint32_t stage,
                        const Caller& caller, std::string act);

// The first stage of the top level that is under way or to come.
std::uint32_t FirstOpenStage(const OpenRun& run);

// Where a retry of the run would begin.
struct PassBeginning {
  std::uint32_t stage = 0;  // of the run's plan, or of `plan`
  Ordinals hosts;
  const RunSpec* plan = nullptr;  // the corrected one, if the retry brings it
  bool inside = false;            // some hosts begin in the middle of the stage's inner ones
};
// Approvals that a pass beginning there does not ask for, and that were not given yet for what it
// does. The run's open visits have ended.
PlanApprovals LeftOutByBeginning(const OpenRun& run, const PassBeginning& beginning);

// "ask, roll (between batches)".
std::string NamesOf(const PlanApprovals& approvals);

}  // namespace muster::engine
