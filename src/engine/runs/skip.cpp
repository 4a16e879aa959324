#include <algorithm>

#include "engine/runs/approvals.hpp"
#include "engine/runs/sequence.hpp"
#include "engine/runs/stage_entry.hpp"
#include "engine/runs/steer.hpp"
#include "engine/runs/steered.hpp"
#include "engine/runs/stop.hpp"
#include "engine/runs/visit_end.hpp"

namespace muster::engine {
namespace {

// Whether something below the visit is on a host, also of a run that it started.
bool IsBusy(const State& state, const OpenRun& run, const OpenVisit& visit) {
  if (!visit.attempts.empty()) return true;
  if (const auto child = state.runs.open.find(visit.record.child); child != state.runs.open.end())
    for (const auto& [id, below] : child->second.visits)
      if (IsBusy(state, child->second, below)) return true;
  return std::ranges::any_of(run.visits, [&](const auto& item) {
    return item.second.record.parent == visit.record.visit && IsBusy(state, run, item.second);
  });
}

// Runs that the visit, or one inside it, started end with it.
void StopChildren(Turn& turn, OpenRun& run, Visit id, const StopWish& wish) {
  for (auto& [inner, visit] : run.visits) {
    if (visit.record.parent == id) StopChildren(turn, run, inner, wish);
    const auto child = turn.state.runs.open.find(visit.record.child);
    if (inner == id && child != turn.state.runs.open.end()) StopWhole(turn, child->second, wish);
  }
}

// Inner visits that have done nothing yet end with the stage that holds them.
void DropInner(Turn& turn, OpenRun& run, Visit parent) {
  std::vector<OpenVisit> inner;
  std::erase_if(run.visits, [&](auto& item) {
    const bool dropped = item.second.record.parent == parent;
    if (dropped) inner.push_back(std::move(item.second));
    return dropped;
  });
  for (OpenVisit& visit : inner) {
    visit.record.state = StageState::kCancelled;
    visit.record.ended = turn.now.wall;
    KeepVisit(turn, run, visit);
    SettleHosts(run, visit);
    for (std::size_t i = 0; i < visit.slots.size(); ++i)
      if (const auto host = turn.state.hosts.entries.find((*run.targets)[visit.hosts[i]].host);
          host != turn.state.hosts.entries.end())
        host->second.queued.erase({run.run.id, visit.record.visit, visit.hosts[i]});
  }
}

// Whether the run stands at the failure limit of this visit.
bool StandsAtLimit(const OpenRun& run, const OpenVisit& visit) {
  if (visit.ends_as) return false;
  if (std::holds_alternative<SequenceAction>(run.SpecOf(visit).action))
    return StoppedAtLimit(run, visit);
  return !visit.slots.empty() && visit.batch_left == 0 &&
         visit.record.batch_end < visit.hosts.size();
}

// Nothing is left to decide about the limit that a run stands at when its stage is skipped. Another
// stage may stand at a limit beside it.
void LeaveLimit(Turn& turn, OpenRun& run) {
  if (!run.run.pause || run.run.pause->by != kByLimit) return;
  const auto other = std::ranges::find_if(
      run.visits, [&](const auto& item) { return StandsAtLimit(run, item.second); });
  if (other == run.visits.end()) {
    EndPause(turn, run);
    return;
  }
  run.run.pause->reason = run.run.stages[other->second.record.stage].reason;
}

Result<> SkipByHand(Turn& turn, OpenRun& run, std::uint32_t stage, const std::string& who) {
  for (auto& [id, visit] : run.visits) {
    if (visit.record.stage != stage) continue;
    if (IsBusy(turn.state, run, visit))
      return Fail(ErrorCode::kConflict,
                  "stage {} is at work; pause the run and let its tasks end, or stop the run",
                  visit.record.name);
    StopChildren(
        turn, run, id,
        {.by = who, .at = turn.now.wall, .reason = "the stage that started it was skipped"});
    DropInner(turn, run, id);
    visit.record.reason = "an operator skipped it";
    visit.ends_as = StageState::kSkipped;
    LeaveLimit(turn, run);
    return {};
  }
  if (std::ranges::find(run.run.skips, stage) == run.run.skips.end())
    run.run.skips.push_back(stage);
  return {};
}

// A stage that has ended, and that no visit has open, is not skipped any more.
Result<> CheckNotEnded(const OpenRun& run, std::uint32_t stage) {
  const StageProgress& progress = run.run.stages[stage];
  const bool open = std::ranges::any_of(
      run.visits, [&](const auto& item) { return item.second.record.stage == stage; });
  if (open || !IsFinal(progress.state) || progress.visits == 0) return {};
  return Fail(ErrorCode::kConflict, "stage {} already ended ({})", progress.name,
              Name(progress.state));
}

}  // namespace

void Decide(Turn& turn, const SkipStage& command) {
  const auto found = FindGoing(turn.state, command.run);
  if (!found) return turn.Answer(command, Fail(found.error()));
  OpenRun* run = *found;
  const auto stage = StageNamed(run->run, command.stage);
  if (!stage) return turn.Answer(command, NoSuchStage(run->run, command.stage));
  if (auto ended = CheckNotEnded(*run, *stage); !ended)
    return turn.Answer(command, Fail(ended.error()));
  GoingAround around{.act = fmt::format("skipping stage '{}'", command.stage),
                     .approvals = ApprovalsIn(run->run.spec, *stage)};
  AddApprovals(around.approvals, OnSomeCourses(turn.state, *run));
  AuditFacts facts = FactsAbout(turn.state, *run);
  if (auto may = CheckGoingAround(turn.state, facts.starters, around, command.caller); !may)
    return turn.Answer(command, Fail(may.error()));
  facts.stage = command.stage;
  facts.batch = BatchOf(*run, *stage);
  const std::string paused = run->run.pause ? run->run.pause->reason : "";
  if (auto skipped = SkipByHand(turn, *run, *stage, command.caller.name); !skipped)
    return turn.Answer(command, Fail(skipped.error()));
  facts.approvals = NamesOf(around.approvals);
  // Skipping an approval is an answer to it; skipping anything else changes what the run does.
  if (!std::holds_alternative<ApproveAction>(run->run.spec.stages[*stage].action))
    AddStarter(turn, *run, command.caller.name);
  turn.Answer(
      command,
      Steered(turn, command.caller, *run, "run.skip",
              fmt::format("stage {}{}{}", command.stage,
                          around.approvals.empty() ? ""
                                                   : fmt::format(", goes around the approval {}",
                                                                 fmt::join(facts.approvals, ", ")),
                          paused.empty() || run->run.pause ? "" : "; was paused: " + paused),
              command.reason, facts));
}

}  // namespace muster::engine
