#include "engine/runs/flow.hpp"

#include <algorithm>
#include <utility>

#include "domain/approvals.hpp"
#include "domain/run_row.hpp"
#include "engine/limiter/limiter.hpp"
#include "engine/notices/notices.hpp"
#include "engine/runs/again.hpp"
#include "engine/runs/budget.hpp"
#include "engine/runs/dispatch.hpp"
#include "engine/runs/ending.hpp"
#include "engine/runs/entering.hpp"
#include "engine/runs/moving.hpp"
#include "engine/runs/sequence.hpp"
#include "engine/runs/server_work.hpp"
#include "engine/triggers/looking.hpp"

namespace muster::engine {
namespace {

constexpr std::string_view kStatus = "status";

std::vector<std::uint32_t> ListOf(const RunSpec& spec, Section section) {
  std::vector<std::uint32_t> list;
  for (std::uint32_t i = 0; i < spec.stages.size(); ++i)
    if (!spec.stages[i].parent && spec.stages[i].section == section) list.push_back(i);
  return list;
}

void EnterList(Turn& turn, OpenRun& run, const std::vector<std::uint32_t>& list, std::size_t at,
               Visit from = {});
void Close(Turn& turn, OpenRun& run);

// Opens a stage in its turn. As OpenStage.
bool OpenNext(Turn& turn, OpenRun& run, std::uint32_t stage, Visit from = {}) {
  const Entry entry = EntryFor(run, stage, from);
  return OpenStage(turn, run, stage, {.hosts = *entry.hosts, .entry = entry});
}

// Enters every stage of the graph whose needs are met; again when one of them was skipped.
void EnterReady(Turn& turn, OpenRun& run) {
  const auto list = ListOf(run.run.spec, Section::kMain);
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const StageProgress& progress = run.run.stages[list[i]];
      if (progress.state != StageState::kWaiting) continue;
      const auto needs = NeedsOf(run.run.spec, list[i]);
      const bool met = std::ranges::all_of(
          needs, [&](std::uint32_t need) { return WentWell(run.run.stages[need].state); });
      if (!met) continue;
      again = !OpenNext(turn, run, list[i]) || again;
    }
  }
}

// Enters the first stage from `list[at]` on that is not skipped.
void EnterList(Turn& turn, OpenRun& run, const std::vector<std::uint32_t>& list, std::size_t at,
               Visit from) {
  for (; at < list.size(); ++at)
    if (OpenNext(turn, run, list[at], from)) return;
  if (!run.run.closing) Close(turn, run);
}

// The main list is through, one way or the other: what must be done in the end.
void Close(Turn& turn, OpenRun& run) {
  if (run.run.closing || !run.visits.empty()) return;
  run.run.closing = true;
  if (!run.restored) EnterList(turn, run, ListOf(run.run.spec, Section::kFinally), 0);
}

std::size_t PlaceIn(const std::vector<std::uint32_t>& list, std::uint32_t stage) {
  return static_cast<std::size_t>(std::ranges::find(list, stage) - list.begin());
}

// The stage that `switch` names for this outcome. Hosts report the status, so it never stands for
// how the stage ended.
std::optional<std::uint32_t> SwitchOf(const StageSpec& spec, const StageVisit& ended) {
  const std::string_view status = IsOutcomeName(ended.status) ? "" : std::string_view(ended.status);
  for (const std::string_view name : {status, Name(ended.state), kDefaultOutcome})
    if (const auto found = spec.next.find(name); !name.empty() && found != spec.next.end())
      return found->second;
  return std::nullopt;
}

// A stage was left out: what comes after it, in a graph by what it needs.
void EnterBehind(Turn& turn, OpenRun& run, const std::vector<std::uint32_t>& list,
                 std::uint32_t left_out) {
  if (!IsGraph(run.run.spec)) return EnterList(turn, run, list, PlaceIn(list, left_out) + 1);
  EnterReady(turn, run);
  Close(turn, run);
}

void TakeSwitch(Turn& turn, OpenRun& run, const StageVisit& ended, std::uint32_t target) {
  if (!WentWell(ended.state)) run.run.outcome = ended.state;
  if (target == StageSpec::kEnd) return Close(turn, run);
  const StageSpec& spec = run.run.spec.stages[target];
  const auto list = ListOf(run.run.spec, spec.section);
  if (OpenNext(turn, run, target, ended.visit)) return;
  if (spec.section == Section::kMain)
    EnterBehind(turn, run, list, target);
  else
    Close(turn, run);
}

void FollowInClosing(Turn& turn, OpenRun& run, const StageVisit& ended) {
  if (!WentWell(ended.state) && run.run.outcome == StageState::kSucceeded)
    run.run.outcome = StageState::kFailed;
  // The others are done however it went, but not behind an approval that was not given.
  if (!WentWell(ended.state) && HoldApprovals(run.run.spec)[ended.stage]) return;
  const auto list = ListOf(run.run.spec, Section::kFinally);
  EnterList(turn, run, list, PlaceIn(list, ended.stage) + 1);
}

// A stage of the top level has ended: what comes next.
void Follow(Turn& turn, OpenRun& run, const StageVisit& ended) {
  if (run.Stopping()) return;
  if (run.run.closing) return FollowInClosing(turn, run, ended);
  const StageSpec& spec = run.run.spec.stages[ended.stage];
  const bool well = WentWell(ended.state);
  if (spec.recovers && well) run.run.outcome = StageState::kSucceeded;
  if (run.restored) {
    const auto list = ListOf(run.run.spec, Section::kMain);
    if (!well || list.back() != ended.stage)
      run.run.outcome = well ? StageState::kFailed : ended.state;
    return Close(turn, run);
  }
  if (const auto target = SwitchOf(spec, ended)) return TakeSwitch(turn, run, ended, *target);
  if (!well) {
    run.run.outcome = ended.state;
    if (run.run.reason.empty()) run.run.reason = ended.reason;
    return Close(turn, run);
  }
  if (spec.section == Section::kBranch) return Close(turn, run);
  if (IsGraph(run.run.spec)) {
    if (run.run.outcome == StageState::kSucceeded) EnterReady(turn, run);
    return Close(turn, run);
  }
  const auto list = ListOf(run.run.spec, Section::kMain);
  EnterList(turn, run, list, PlaceIn(list, ended.stage) + 1);
}

// The status all hosts agree on, of those that said one.
std::string CommonStatus(const OpenRun& run, const StageVisit& record) {
  const auto found = run.reported.find(record.name);
  if (found == run.reported.end()) return {};
  const auto status_of = [](const Outputs& outputs) -> std::string {
    for (const auto& [name, value] : outputs)
      if (name == kStatus) return value;
    return {};
  };
  std::string common = status_of(found->second.stage);
  for (const auto& [ordinal, outputs] : found->second.hosts) {
    const std::string status = record.hosts.Contains(ordinal) ? status_of(outputs) : "";
    if (status.empty()) continue;
    if (!common.empty() && common != status) return {};
    common = status;
  }
  return common;
}

bool WasTouched(TaskState state) {
  return VerdictOf(state) == Verdict::kRan || state == TaskState::kLost;
}

// What a sequence came to on one of its hosts that it was begun for. One that did not come through,
// and that nothing failed on, was left out: no batch reached it, or its batch was left in the
// middle.
TaskState OutcomeOf(const OpenRun& run, const StageVisit& sequence, std::uint32_t ordinal) {
  if (!sequence.dropped.Contains(ordinal)) return TaskState::kSucceeded;
  const TaskState result = run.hosts[ordinal].Result();
  const bool went_wrong = IsFinal(result) && result != TaskState::kSucceeded;
  return went_wrong ? result : TaskState::kSkipped;
}

// What became of each host of a visit that ends.
void SumUp(const OpenRun& run, OpenVisit& visit, bool skipped) {
  StageVisit& record = visit.record;
  if (!visit.slots.empty()) {
    record.counts = visit.counts;
    for (std::size_t i = 0; i < kTaskStates; ++i)
      if (const auto state = static_cast<TaskState>(i); !IsFinal(state))
        record.counts[TaskState::kSkipped] += std::exchange(record.counts[state], 0);
    for (std::size_t i = 0; i < visit.hosts.size(); ++i) {
      const TaskState state = visit.slots[i].state;
      const bool never_begun = skipped && !IsFinal(state);
      if (state != TaskState::kSucceeded && !never_begun) record.dropped.Insert(visit.hosts[i]);
      if (WasTouched(state)) record.touched.Insert(visit.hosts[i]);
    }
    return;
  }
  if (!std::holds_alternative<SequenceAction>(run.SpecOf(visit).action)) return;
  record.dropped = Union(record.dropped, record.batch_dropped);
  // Past a stop or a limit, later batches were never begun.
  for (std::size_t i = record.batch_end; i < visit.hosts.size() && !skipped; ++i)
    record.dropped.Insert(visit.hosts[i]);
  Ordinals left_out;
  for (std::size_t i = 0; i < visit.hosts.size(); ++i) {
    const bool never_begun = skipped && i >= record.batch_end;
    const TaskState outcome =
        never_begun ? TaskState::kSkipped : OutcomeOf(run, record, visit.hosts[i]);
    ++record.counts[outcome];
    if (outcome == TaskState::kSkipped && !never_begun) left_out.Insert(visit.hosts[i]);
  }
  if (!left_out.Empty()) record.results = {{TaskState::kSkipped, std::move(left_out)}};
}

// Only of a stage that was skipped: all other tasks have ended.
void ForgetQueued(Turn& turn, const OpenRun& run, const StageVisit& record, std::uint32_t ordinal) {
  StopWaiting(turn, {run.run.id, record.visit, ordinal});
  const auto host = turn.state.hosts.find((*run.targets)[ordinal].host);
  if (host != turn.state.hosts.end())
    host->second.queued.erase({run.run.id, record.visit, ordinal});
}

void CountEnded(Turn& turn, OpenRun& run, const StageVisit& record) {
  StageProgress& progress = run.run.stages[record.stage];
  progress.state = record.state;
  progress.ended = turn.now.wall;
  progress.reason = record.reason;
  for (std::size_t i = 0; i < kTaskStates; ++i)
    progress.counts.by_state[i] += record.counts.by_state[i];
}

void AdvanceVisit(Turn& turn, OpenRun& run, OpenVisit& visit) {
  if (visit.ends_as) return;
  if (!visit.slots.empty()) return AdvanceTasks(turn, run, visit);
  if (visit.server_lost) return LoseServerWork(turn, run, visit);
  const bool idle =
      !std::holds_alternative<SequenceAction>(run.SpecOf(visit).action) || IsIdle(run, visit);
  if (run.Stopping() && idle && !HasServerWork(visit)) {
    visit.ends_as = StageState::kCancelled;
    return;
  }
  if (!run.run.pause && !run.Stopping()) StartServerWork(turn, run, visit);
}

std::string ReasonOf(const OpenRun& run, const OpenVisit& visit) {
  if (!visit.record.reason.empty()) return visit.record.reason;
  return run.restored || run.Stopping() ? std::string() : visit.passed_because;
}

RunState EndOf(const OpenRun& open) {
  if (open.Stopping())
    return open.run.stop->by == kByBudget ? RunState::kTimedOut : RunState::kCancelled;
  return RunEnd(open.run.outcome);
}

// The stage that waited for the run ends in the same batch: after a crash between two of them
// nobody would tell it.
void EndWaiting(Turn& turn, const Run& child) {
  const auto parent = turn.state.runs.find(child.parent);
  if (parent == turn.state.runs.end()) return;
  OpenRun& run = parent->second;
  const auto visit = run.visits.find(child.parent_visit);
  if (visit == run.visits.end() || visit->second.record.child != child.id) return;
  if (!visit->second.ends_as) return;
  EndVisit(turn, run, visit->first, *visit->second.ends_as, ReasonOf(run, visit->second));
  KeepRun(turn, run);
}

// The run as its row has it: its plan is long, and stays where it is.
PutRun RowOf(Run& run) {
  RunSpec plan = std::exchange(run.spec, RowSpecOf(run.spec));
  PutRun row{run};
  run.spec = std::move(plan);
  return row;
}

void EndRun(Turn& turn, OpenRun& open) {
  Run& run = open.run;
  StopTicking(turn, open);
  run.state = EndOf(open);
  run.ended = turn.now.wall;
  run.ended_commit = turn.commit;
  open.counts = {};
  for (const HostFlow& host : open.hosts) ++open.counts[host.AtEnd()];
  run.counts = open.counts;
  run.pause.reset();
  if (open.restored && !run.stop)
    run.reason = "it was open in the backup this server was restored from";
  if (run.stop && run.stop->by == kByBudget && run.reason.empty()) run.reason = run.stop->reason;
  TellChannels(turn, open, Name(run.state), run.reason);
  turn.Put(RowOf(run));
  const RunId id = run.id;
  const auto logs = turn.state.logs_open.find(id);
  turn.Tell(RunNews{.run = id,
                    .state = run.state,
                    .counts = run.counts,
                    .logs_open = logs == turn.state.logs_open.end() ? 0 : logs->second,
                    .commit = turn.commit,
                    .is_new = false,
                    .whole = std::make_shared<const Run>(run),
                    .targets = {}});
  turn.state.untold.erase(id);
  turn.state.dirty_runs.erase(id);
  turn.state.changed_runs.erase(id);
  turn.state.RememberEnd(id, turn.commit);
  StopWaitingOf(turn, id);
  OnRunEnd(turn, open);
  EndWaiting(turn, run);
  OnTriggeredRunEnd(turn, open);
  turn.state.ForgetPlan(open);
  const auto ended = turn.state.runs.extract(id);
  GiveBackKeys(turn, ended.mapped().run);
}

}  // namespace

bool IsGraph(const RunSpec& spec) {
  return std::ranges::any_of(
      spec.stages, [](const StageSpec& stage) { return InMainList(stage) && stage.needs; });
}

std::vector<std::uint32_t> NeedsOf(const RunSpec& spec, std::uint32_t stage) {
  if (const auto& needs = spec.stages[stage].needs) return *needs;
  for (std::uint32_t before = stage; before-- > 0;)
    if (InMainList(spec.stages[before])) return {before};
  return {};
}

bool WentWell(StageState state) {
  return state == StageState::kSucceeded || state == StageState::kSkipped;
}

std::vector<std::uint32_t> InnerOf(const RunSpec& spec, std::uint32_t stage) {
  std::vector<std::uint32_t> inner;
  for (std::uint32_t i = 0; i < spec.stages.size(); ++i)
    if (spec.stages[i].parent == stage && spec.stages[i].section != Section::kBetween)
      inner.push_back(i);
  return inner;
}

std::optional<std::uint32_t> CheckOf(const RunSpec& spec, std::uint32_t stage) {
  for (std::uint32_t i = 0; i < spec.stages.size(); ++i)
    if (spec.stages[i].parent == stage && spec.stages[i].section == Section::kBetween) return i;
  return std::nullopt;
}

void KeepRun(Turn& turn, OpenRun& run) {
  turn.state.dirty_runs.insert(run.run.id);
  turn.state.changed_runs.insert(run.run.id);
  turn.TellRun(run);
}

void WriteRuns(Turn& turn) {
  for (const RunId id : std::exchange(turn.state.dirty_runs, {}))
    if (const auto run = turn.state.runs.find(id); run != turn.state.runs.end())
      turn.Put(RowOf(run->second.run));
}

void Begin(Turn& turn, OpenRun& run) {
  if (IsGraph(run.run.spec)) {
    EnterReady(turn, run);
    Close(turn, run);
  } else {
    EnterList(turn, run, ListOf(run.run.spec, Section::kMain), 0);
  }
  turn.Wake(run);
}

void Enter(Turn& turn, OpenRun& run, std::uint32_t stage, const Entry& entry) {
  const StageSpec& spec = run.run.spec.stages[stage];
  const Ordinals hosts = entry.hosts ? *entry.hosts : ChooseHosts(run, spec, entry.from);
  if (!OpenStage(turn, run, stage, {.hosts = hosts, .entry = entry}))
    EnterBehind(turn, run, ListOf(run.run.spec, spec.section), stage);
  else if (IsGraph(run.run.spec))
    EnterReady(turn, run);  // what stands beside it
  turn.Wake(run);
}

void SettleHosts(OpenRun& run, const OpenVisit& visit) {
  for (std::size_t i = 0; i < visit.slots.size(); ++i) {
    if (IsFinal(visit.slots[i].state)) continue;
    run.hosts[visit.hosts[i]].Move(visit.record.visit, TaskState::kWaiting);
    CountHost(run, visit.hosts[i]);
  }
  TakeResults(run, visit.record);
  for (const auto& [state, hosts] : visit.record.results)
    for (const std::uint32_t ordinal : hosts.List()) CountHost(run, ordinal);
}

void EndVisit(Turn& turn, OpenRun& run, Visit id, StageState state, std::string reason) {
  const auto found = run.visits.find(id);
  if (found == run.visits.end()) return;
  OpenVisit visit = std::move(found->second);
  run.visits.erase(found);
  // Later stages are not for these hosts, and a retry goes on with them.
  if (!WentWell(state) && visit.record.phase == VisitPhase::kWork &&
      std::holds_alternative<SequenceAction>(run.SpecOf(visit).action))
    DropUnfinished(run, visit.record);
  SumUp(run, visit, state == StageState::kSkipped);
  SettleHosts(run, visit);
  StageVisit& record = visit.record;
  record.state = state;
  record.ended = turn.now.wall;
  record.reason = std::move(reason);
  record.status = CommonStatus(run, record);
  if (!record.status.empty()) run.reported[record.name].status = record.status;
  CountEnded(turn, run, record);
  MoveHosts(run, record);
  MarkPassed(run, record);
  NoteCourse(run, record);
  turn.Put(PutVisit{run.run.id, record});
  run.ended[record.stage] = record;
  for (std::size_t i = 0; i < visit.slots.size(); ++i)
    if (visit.slots[i].state == TaskState::kQueued) ForgetQueued(turn, run, record, visit.hosts[i]);
  if (!record.parent || !run.visits.contains(record.parent)) return Follow(turn, run, record);
  OnInnerEnd(turn, run, record);
  // In the same batch: nothing on record says that the stage around it is to end.
  if (const auto around = run.visits.find(record.parent);
      around != run.visits.end() && around->second.ends_as)
    EndVisit(turn, run, around->first, *around->second.ends_as, ReasonOf(run, around->second));
}

void EndCancelled(Turn& turn, OpenRun& run, Visit id) {
  OpenVisit visit = std::move(run.visits.at(id));
  run.visits.erase(id);
  StageVisit& record = visit.record;
  if (std::holds_alternative<SequenceAction>(run.SpecOf(visit).action) &&
      record.phase == VisitPhase::kWork)
    DropUnfinished(run, visit.record);
  SumUp(run, visit, false);
  SettleHosts(run, visit);
  record.state = StageState::kCancelled;
  record.ended = turn.now.wall;
  CountEnded(turn, run, record);
  MoveHosts(run, record);
  MarkPassed(run, record);
  NoteCourse(run, record);
  turn.Put(PutVisit{run.run.id, record});
  run.ended[record.stage] = record;
  if (const auto parent = run.visits.find(record.parent); parent != run.visits.end()) {
    auto& holder = parent->second.record;
    holder.touched = Union(holder.touched, record.touched);
    holder.batch_dropped = Union(holder.batch_dropped, record.dropped);
  }
}

void PauseAtLimit(Turn& turn, OpenRun& run, OpenVisit& visit, std::string reason) {
  run.run.pause =
      Pause{.by = std::string(kByLimit), .at = turn.now.wall, .reason = std::move(reason)};
  run.run.state = RunState::kPaused;
  run.run.stages[visit.record.stage].reason = run.run.pause->reason;
  TellChannels(turn, run, "paused", run.run.pause->reason);
  StopWaitingOf(turn, run.run.id);
  KeepVisit(turn, run, visit);
  KeepRun(turn, run);
}

void TellBatch(Turn& turn, OpenRun& run, OpenVisit& visit) {
  StageProgress& progress = run.run.stages[visit.record.stage];
  const BatchPlan& plan = run.SpecOf(visit).batches;
  progress.batch = plan.Empty() ? 0 : visit.record.batch + 1;
  KeepVisit(turn, run, visit);
  KeepRun(turn, run);
}

void ArmVisit(Turn& turn, OpenRun& run, OpenVisit& visit, MonoTime at) {
  visit.due = at;
  turn.state.timers.push(
      {.at = at, .kind = TimerKind::kVisitDue, .task = {run.run.id, visit.record.visit, 0}});
}

void OnVisitDue(Turn& turn, OpenRun& run, OpenVisit& visit) {
  if (!visit.due || *visit.due > turn.now.mono || visit.ends_as) return;
  visit.due.reset();
  turn.Wake(run);
  if (visit.record.state == StageState::kAwaitingApproval) {
    visit.record.decision =
        Decision{.approved = false, .by = {}, .at = turn.now.wall, .comment = {}};
    visit.record.reason = "it was not approved in time";
    visit.ends_as = StageState::kFailed;
    return;
  }
  if (std::holds_alternative<SequenceAction>(run.SpecOf(visit).action))
    return GoOn(turn, run, visit);
  // A request whose next attempt is due goes on; a wait is over.
  if (std::holds_alternative<WaitAction>(run.SpecOf(visit).action))
    visit.ends_as = StageState::kSucceeded;
}

bool Advance(Turn& turn, OpenRun& run) {
  run.working = false;
  if (run.run.state == RunState::kQueued && !run.Stopping()) {
    if (!TakeRunKeys(turn, run)) return true;
    run.run.state = RunState::kRunning;
    KeepRun(turn, run);
    if (!run.run.closing) Begin(turn, run);
  }
  bool changed = false;
  for (bool more = true; more && !turn.Spent();) {
    more = false;
    std::vector<Visit> ids;
    for (const auto& [id, visit] : run.visits) ids.push_back(id);
    for (const Visit id : ids) {
      const auto found = run.visits.find(id);
      if (found == run.visits.end() || turn.Spent()) continue;
      AdvanceVisit(turn, run, found->second);
      if (!found->second.ends_as) continue;
      EndVisit(turn, run, id, *found->second.ends_as, ReasonOf(run, found->second));
      more = changed = true;
    }
  }
  const bool over = run.visits.empty() && (run.run.closing || run.Stopping());
  if (over) {
    EndRun(turn, run);
    return false;
  }
  Tick(turn, run);
  if (run.run.pause) GiveBackPaused(turn, run.run);
  if (changed) KeepRun(turn, run);
  const bool work = std::ranges::any_of(run.visits, [&](const auto& item) {
    return item.second.ends_as || HasWork(run, item.second);
  });
  if (work) turn.Wake(run);
  return true;
}

}  // namespace muster::engine
