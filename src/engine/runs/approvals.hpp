#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "domain/approvals.hpp"
#include "engine/turn.hpp"

// Who may answer an approval, and who may go around one.
//
// An approval asks for a person's consent to what the run does next. Skipping it, or beginning
// behind it, has the same effect as approving it, so it needs the same right. If a job asks for an
// approval on some courses only, every act that changes the course needs that right too.
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

// GoingAround::why of approvals that OnSomeCourses names.
inline constexpr std::string_view kOnSomeCourses = ", which this job asks for on some courses only";

// An act that could leave approvals out.
struct GoingAround {
  std::string act;  // "skipping stage 'ask'"
  PlanApprovals approvals = {};
  std::string why = {};      // ", which …", behind the approval's name
  std::string instead = {};  // "; or …": what the person may do without the right
  // Of a retry: those that stand before its beginning, so that the pass surely leaves them out. The
  // others may be asked for again.
  PlanApprovals surely = {};
};
// kDenied unless the caller may answer each of these approvals.
Result<> CheckGoingAround(const State& state, const std::vector<std::string>& starters,
                          const GoingAround& around, const Caller& caller);

// Approvals of this run and the open runs above it whose plan does not ask in order (AsksInOrder):
// any act that changes what a stage finds, or which stages run, could leave them out.
PlanApprovals OnSomeCourses(const State& state, const OpenRun& run);
// Those of the open runs above it alone.
PlanApprovals OnSomeCoursesAbove(const State& state, const OpenRun& run);

// kDenied unless the caller may answer each of OnSomeCourses. `act` is as in GoingAround.
Result<> CheckCourse(const State& state, const OpenRun& run, const Caller& caller, std::string act);

// Where a retry of the run would begin.
struct PassBeginning {
  std::uint32_t stage = 0;  // of the run's plan, or of `plan`
  Ordinals hosts;
  const RunSpec* plan = nullptr;  // the corrected one, if the retry brings it
  bool begun = false;             // the stage was entered in this run
};
// A retry that begins there. The run's open visits have ended.
GoingAround RetryGoingAround(const State& state, const OpenRun& run,
                             const PassBeginning& beginning);

// Each name once, at most 64, and how many more there are.
std::vector<std::string> NamesOf(const PlanApprovals& approvals);

}  // namespace muster::engine
