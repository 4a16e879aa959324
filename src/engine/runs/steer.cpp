#include "engine/runs/steer.hpp"

#include <algorithm>
#include <set>

#include "domain/approval_id.hpp"
#include "domain/approvers.hpp"
#include "domain/audit_facts.hpp"
#include "engine/limiter/limiter.hpp"
#include "engine/notices/notices.hpp"
#include "engine/runs/approvals.hpp"
#include "engine/runs/budget.hpp"
#include "engine/runs/dispatch.hpp"
#include "engine/runs/flow.hpp"
#include "engine/runs/keep_run.hpp"
#include "engine/runs/sequence.hpp"
#include "engine/runs/stage_entry.hpp"
#include "engine/runs/steered.hpp"

namespace muster::engine {
namespace {

// The open run that is next above another one; those between them have ended.
bool IsNextAbove(const State& state, RunId run, const Run& below) {
  const auto open =
      std::ranges::find_if(below.above.rbegin(), below.above.rend(),
                           [&](RunId above) { return state.runs.open.contains(above); });
  return open != below.above.rend() && *open == run;
}

// Also those that no stage waits for, as a stop reaches them too.
template <typename Do>
void EachChild(Turn& turn, OpenRun& run, Do act) {
  const auto found = turn.state.runs.below.find(run.run.id);
  if (found == turn.state.runs.below.end()) return;
  for (const RunId id : std::set(found->second)) {
    OpenRun& child = turn.state.runs.open.at(id);
    if (IsNextAbove(turn.state, run.run.id, child.run)) act(child);
  }
}

bool WaitsForTime(const OpenRun& run, const OpenVisit& visit) {
  return std::holds_alternative<WaitAction>(run.SpecOf(visit).action) ||
         visit.record.phase == VisitPhase::kWait;
}

void PauseTree(Turn& turn, OpenRun& run, const Pause& pause) {
  if (run.run.pause || run.Stopping()) return;
  run.run.pause = pause;
  run.run.state = RunState::kPaused;
  TellChannels(turn, run, "paused",
               fmt::format("by {}{}{}", pause.by, pause.reason.empty() ? "" : ", ", pause.reason));
  for (auto& [id, visit] : run.visits)
    if (WaitsForTime(run, visit)) visit.due.reset();
  StopTicking(turn, run);
  StopWaitingOf(turn, run.run.id);
  KeepRun(turn, run);
  // Its own keys a child keeps: the run above it goes on only with its own.
  Pause below = pause;
  below.release = false;
  EachChild(turn, run, [&](OpenRun& child) { PauseTree(turn, child, below); });
}

// What waited for a host waits from now on.
void ArmQueued(Turn& turn, OpenRun& run, OpenVisit& visit) {
  for (std::size_t i = 0; i < visit.slots.size(); ++i) {
    Slot& slot = visit.slots[i];
    if (slot.state != TaskState::kQueued) continue;
    slot.wait_until = std::max(turn.now.mono, slot.retry_at) + run.SpecOf(visit).wait_offline;
    ArmWait(turn, run, visit, visit.hosts[i]);
    MakeReady(turn, run, visit, visit.hosts[i]);
  }
}

// A run that was paused while it waited for its keys still waits for them.
bool HasBegun(const OpenRun& run) {
  return run.run.closing || std::ranges::any_of(run.run.stages, [](const StageProgress& stage) {
           return stage.visits > 0 || stage.state != StageState::kWaiting;
         });
}

// Whether a child was paused by the pause that is ended, and not for a reason of its own: a limit
// of its own, or a person who paused it by itself.
bool PausedTogether(const Pause& parent, const std::optional<Pause>& child) {
  return child && child->by == parent.by && child->at == parent.at && child->by != kByLimit;
}

void ResumeTree(Turn& turn, OpenRun& run, std::vector<RunId>& stay_paused) {
  if (!run.run.pause) return;
  const Pause pause = *std::exchange(run.run.pause, std::nullopt);
  run.run.state = HasBegun(run) ? RunState::kRunning : RunState::kQueued;
  const Duration stood = std::max(Duration::zero(), turn.now.wall - pause.at);
  std::vector<Visit> ids;
  for (const auto& [id, visit] : run.visits) ids.push_back(id);
  for (const Visit id : ids) {
    OpenVisit& visit = run.visits.at(id);
    if (WaitsForTime(run, visit) && visit.record.until) {
      visit.record.until = visit.record.until + stood;
      KeepVisit(turn, run, visit);
      ArmVisit(turn, run, visit,
               turn.now.mono + std::max(Duration::zero(), visit.record.until - turn.now.wall));
    }
    ArmQueued(turn, run, visit);
    if (pause.by != kByLimit || visit.ends_as) continue;
    if (std::holds_alternative<SequenceAction>(run.SpecOf(visit).action))
      TakeFailures(turn, run, visit);
    else if (!visit.slots.empty() && visit.batch_left == 0 &&
             visit.record.batch_end < visit.hosts.size())
      NextBatch(turn, run, visit);
  }
  KeepRun(turn, run);
  turn.Wake(run);
  EachChild(turn, run, [&](OpenRun& child) {
    if (PausedTogether(pause, child.run.pause)) return ResumeTree(turn, child, stay_paused);
    if (child.run.pause) stay_paused.push_back(child.run.id);
  });
}

Result<OpenVisit*> FindAsking(const State& state, OpenRun& run, const std::string& stage,
                              const std::string& approval) {
  const auto above = RunsAbove(state, run);
  ApprovalIds ids(run.run, above);
  std::vector<OpenVisit*> asking;
  for (auto& [id, visit] : run.visits)
    if (visit.record.state == StageState::kAwaitingApproval && !visit.ends_as &&
        (stage.empty() || visit.record.name == stage) &&
        (approval.empty() || ids.Is(visit.record, approval)))
      asking.push_back(&visit);
  if (asking.size() == 1) return asking.front();
  if (asking.empty() && !approval.empty())
    return Fail(ErrorCode::kConflict,
                "approval {} is not open in run {}: it was answered, or the run was changed since "
                "it was shown; read it again with 'muster show {}'",
                approval, FormatRunId(run.run.id), FormatRunId(run.run.id));
  if (asking.empty())
    return Fail(ErrorCode::kConflict, "nothing{} in run {} waits for an approval",
                stage.empty() ? "" : " named '" + stage + "'", FormatRunId(run.run.id));
  std::string names;
  for (const auto* visit : asking) names += (names.empty() ? "" : ", ") + visit->record.name;
  return Fail(ErrorCode::kConflict, "several stages wait for an approval ({}); name one", names);
}

// A value that is set again counts from now on, and the earlier one never again.
void Replace(std::vector<Override>& overrides, Override set) {
  for (Override& earlier : overrides) {
    if (earlier.stage != set.stage) continue;
    if (set.concurrency) earlier.concurrency.reset();
    if (set.max_failures) earlier.max_failures.reset();
    if (set.max_unreachable) earlier.max_unreachable.reset();
  }
  std::erase_if(overrides, [](const Override& one) {
    return !one.concurrency && !one.max_failures && !one.max_unreachable;
  });
  overrides.push_back(std::move(set));
}

void TakeAnswer(Turn& turn, OpenRun& run, OpenVisit& visit, const AnswerApproval& command) {
  visit.record.decision = Decision{.approved = command.approved,
                                   .by = command.caller.name,
                                   .at = turn.now.wall,
                                   .comment = command.comment};
  visit.record.state = StageState::kRunning;
  visit.due.reset();
  run.run.stages[visit.record.stage].state = StageState::kRunning;
  if (!command.approved) {
    visit.record.reason = fmt::format("rejected by {}{}{}", command.caller.name,
                                      command.comment.empty() ? "" : ": ", command.comment);
    visit.ends_as = StageState::kFailed;
  } else if (std::holds_alternative<SequenceAction>(run.SpecOf(visit).action)) {
    GoOn(turn, run, visit);
  } else {
    visit.ends_as = StageState::kSucceeded;
  }
  KeepVisit(turn, run, visit);
}

}  // namespace

std::vector<RunId> EndPause(Turn& turn, OpenRun& run) {
  std::vector<RunId> stay_paused;
  ResumeTree(turn, run, stay_paused);
  return stay_paused;
}

void Decide(Turn& turn, const PauseRun& command) {
  const auto found = FindGoing(turn.state, command.run);
  if (!found) return turn.Answer(command, Fail(found.error()));
  OpenRun* run = *found;
  PauseTree(turn, *run, {command.caller.name, turn.now.wall, command.reason, command.release});
  if (command.release && run->run.pause) run->run.pause->release = true;
  GiveBackPaused(turn, run->run);
  turn.Answer(command, Steered(turn, command.caller, *run, "run.pause",
                               command.release ? "keys released" : "", command.reason,
                               FactsAbout(turn.state, *run)));
}

void Decide(Turn& turn, const ResumeRun& command) {
  const auto found = FindOpen(turn.state, command.run);
  if (!found) return turn.Answer(command, Fail(found.error()));
  OpenRun* run = *found;
  if (!run->run.pause)
    return turn.Answer(
        command, Fail(ErrorCode::kConflict, "run {} is not paused", FormatRunId(command.run)));
  if (run->run.pause->by == kByLimit)
    if (auto may = CheckCourse(turn.state, *run, command.caller, "going on past a failure limit");
        !may)
      return turn.Answer(command, Fail(may.error()));
  // One that has not begun waits for its keys again, as before the pause.
  if (HasBegun(*run))
    if (auto taken = TakeKeysNow(turn, *run); !taken)
      return turn.Answer(command, Fail(taken.error()));
  const std::string was = run->run.pause->reason;
  const std::vector<RunId> stay_paused = EndPause(turn, *run);
  std::string detail = was.empty() ? "" : "was paused: " + was;
  for (const RunId child : stay_paused)
    detail += fmt::format("{}{} stays paused", detail.empty() ? "" : "; ", FormatRunId(child));
  turn.Answer(command, Steered(turn, command.caller, *run, "run.resume", std::move(detail), "",
                               FactsAbout(turn.state, *run)));
}

void Decide(Turn& turn, const AnswerApproval& command) {
  const auto found = FindGoing(turn.state, command.run);
  if (!found) return turn.Answer(command, Fail(found.error()));
  OpenRun* run = *found;
  const auto visit = FindAsking(turn.state, *run, command.stage, command.approval);
  if (!visit) return turn.Answer(command, Fail(visit.error()));
  const auto* wanted = WantedAnswer(run->SpecOf(**visit));
  AuditFacts facts = FactsAbout(turn.state, *run);
  if (wanted != nullptr)
    if (auto may = CheckApprover(turn.state, facts.starters, *wanted, command.caller); !may)
      return turn.Answer(command, Fail(may.error()));
  facts.stage = (*visit)->record.name;
  facts.batch = BatchOf(*run, (*visit)->record.stage);
  facts.plan_sha256 = PlanHash(run->run.spec);
  std::string detail =
      fmt::format("stage {}{}{}{}", facts.stage,
                  facts.batch > 0 ? fmt::format(" after batch {}", facts.batch) : "",
                  (*visit)->record.message.empty() ? "" : ": ", (*visit)->record.message);
  const Ordinals hosts = (*visit)->record.hosts;  // the answer may end the visit
  TakeAnswer(turn, *run, **visit, command);
  turn.Answer(command,
              Steered(turn, command.caller, *run, command.approved ? "run.approve" : "run.reject",
                      std::move(detail), command.comment, facts, hosts));
}

void Decide(Turn& turn, const SetRun& command) {
  const auto found = FindOpen(turn.state, command.run);
  if (!found) return turn.Answer(command, Fail(found.error()));
  OpenRun* run = *found;
  Override set{.stage = {},
               .concurrency = command.concurrency,
               .max_failures = command.max_failures,
               .max_unreachable = command.max_unreachable};
  if (!command.stage.empty()) {
    set.stage = StageNamed(run->run, command.stage);
    if (!set.stage) return turn.Answer(command, NoSuchStage(run->run, command.stage));
  }
  if (set.max_failures || set.max_unreachable)
    if (auto may =
            CheckCourse(turn.state, *run, command.caller,
                        set.max_failures ? "setting max_failures" : "setting max_unreachable");
        !may)
      return turn.Answer(command, Fail(may.error()));
  std::string detail = command.stage.empty() ? "" : "stage " + command.stage + ": ";
  if (set.concurrency) detail += fmt::format("concurrency={} ", *set.concurrency);
  if (set.max_failures)
    detail += fmt::format("max_failures={} ", FormatHostShare(*set.max_failures));
  if (set.max_unreachable)
    detail += fmt::format("max_unreachable={} ", FormatHostShare(*set.max_unreachable));
  detail.resize(detail.find_last_not_of(' ') + 1);
  Replace(run->run.overrides, std::move(set));
  AuditFacts facts = FactsAbout(turn.state, *run);
  facts.stage = command.stage;
  AddStarter(turn, *run, command.caller.name);
  turn.Answer(command,
              Steered(turn, command.caller, *run, "run.set", std::move(detail), "", facts));
}

}  // namespace muster::engine
