#include <algorithm>
#include <set>

#include "domain/audit_facts.hpp"
#include "domain/no_such_run.hpp"
#include "domain/plan_bytes.hpp"
#include "engine/keeping/gates.hpp"
#include "engine/limiter/freezes.hpp"
#include "engine/limiter/limiter.hpp"
#include "engine/runs/again.hpp"
#include "engine/runs/approvals.hpp"
#include "engine/runs/audit_hosts.hpp"
#include "engine/runs/keep_run.hpp"
#include "engine/runs/next_stage.hpp"
#include "engine/runs/replay.hpp"
#include "engine/runs/retry_beginning.hpp"
#include "engine/runs/stage_entry.hpp"
#include "engine/runs/stage_order.hpp"
#include "engine/runs/start.hpp"
#include "engine/runs/steer.hpp"
#include "engine/runs/visit_end.hpp"

namespace muster::engine {
namespace {

// What operators set holds on, for the stages that are still there.
void KeepOverrides(Run& run, const std::vector<StageProgress>& before) {
  std::erase_if(run.overrides, [&](Override& set) {
    if (!set.stage) return false;
    const auto same =
        std::ranges::find(run.stages, before.at(*set.stage).name, &StageProgress::name);
    if (same == run.stages.end()) return true;
    set.stage = static_cast<std::uint32_t>(same - run.stages.begin());
    return false;
  });
}

// The corrected job must have the stage, in the same place for its inner ones.
Result<> TakePlan(Turn& turn, OpenRun& run, const RunSpec& plan, Beginning& beginning) {
  const std::string name = run.run.spec.stages[beginning.stage].name;
  const auto stage = MainStageNamed(plan, name);
  if (!stage)
    return Fail(ErrorCode::kConflict,
                "the corrected job has no stage '{}' in its main list, so the run cannot go on "
                "there; use --from or --from-start",
                name);
  if (InnerOf(plan, *stage).size() != InnerOf(run.run.spec, beginning.stage).size())
    beginning.entry.begins.clear();
  auto before = std::move(run.run.stages);
  // These are of the run, and not of its job.
  auto data = std::move(run.run.spec.data);
  auto left_out = std::move(run.run.spec.left_out);
  run.run.spec = plan;
  run.run.spec.data = std::move(data);
  run.run.spec.left_out = std::move(left_out);
  SettleOutput(run.run);
  ResetProgress(run.run);
  for (std::uint32_t i = 0; i < run.run.stages.size(); ++i)
    if (const auto old = std::ranges::find(before, run.run.stages[i].name, &StageProgress::name);
        old != before.end())
      run.run.stages[i] = *old;
  // As in Replay: stages are found by name, and those that are gone count no more.
  for (auto& host : run.hosts) {
    if (host.Ok()) continue;
    const auto same =
        std::ranges::find(plan.stages, before.at(host.dropped_at).name, &StageSpec::name);
    host.dropped_at = same == plan.stages.end()
                          ? HostFlow::kNowhere
                          : static_cast<std::uint32_t>(same - plan.stages.begin());
  }
  beginning.stage = *stage;
  KeepOverrides(run.run, before);
  run.run.plan_pass = run.run.pass + 1;
  run.entered.clear();
  run.passed.clear();
  run.courses.clear();
  turn.Put(PutPlan{run.run.id, std::make_shared<const RunSpec>(run.run.spec)});
  return {};
}

// What the pass would leave out needs the right to approve it. Those who wrote another plan are
// among those who cause what it does.
Result<> CheckApprovals(const State& state, const OpenRun& run, const RetryRun& command,
                        Beginning& beginning) {
  const std::string& name = run.run.spec.stages[beginning.stage].name;
  if (run.run.guarded)
    return Fail(
        ErrorCode::kDenied,
        "run {} was started by run {}, whose job asks for approvals; retry that one: muster "
        "retry {}",
        FormatRunId(run.run.id), FormatRunId(run.run.parent), FormatRunId(run.run.parent));
  PassBeginning at{.stage = beginning.stage,
                   .hosts = FirstHosts(run, beginning),
                   .plan = command.plan.get(),
                   .begun = run.entered.contains(beginning.stage)};
  std::vector<std::string> starters = StartersOf(state, run);
  if (command.plan) {
    const auto stage = MainStageNamed(*command.plan, name);
    if (!stage) return {};  // TakePlan says so
    at.stage = *stage;
    starters.insert(starters.end(), command.authors.begin(), command.authors.end());
  }
  const GoingAround around = RetryGoingAround(state, run, at);
  beginning.around = NamesOf(around.surely);
  return CheckGoingAround(state, starters, around, command.caller);
}

// What is open in a paused run ends with its pass.
void EndPass(Turn& turn, OpenRun& run) {
  while (!run.visits.empty()) {
    // Inner ones first, so that the stage that holds them can sum up.
    EndCancelled(turn, run, run.visits.rbegin()->first);
  }
}

// A store that came from a backup does not know which visits were used after it.
void LeapVisits(const State& state, Run& run) {
  if (!state.FromBackup(run.id)) return;
  run.next_visit = std::max(run.next_visit, FirstVisitOf(state.id_space) + 1);
}

// The stages of the main list that a pass takes as done, if it begins at `first` and does `again`.
std::vector<bool> StayDone(const Run& run, std::uint32_t first, std::set<std::uint32_t> again) {
  std::vector<bool> done(run.stages.size());
  for (std::uint32_t i = 0; i < done.size(); ++i)
    done[i] = InMainList(run.spec.stages[i]) && WentWell(run.stages[i].state) &&
              (IsGraph(run.spec) || i < first);
  again.insert(first);
  for (const std::uint32_t stage : again) {
    done[stage] = false;
    if (!IsGraph(run.spec)) continue;
    for (const std::uint32_t after : StagesAfter(run.spec, stage)) done[after] = false;
  }
  return done;
}

void OpenPass(Turn& turn, OpenRun& run, const Beginning& beginning) {
  Run& record = run.run;
  LeapVisits(turn.state, record);
  ++record.pass;
  record.state = RunState::kRunning;
  record.ended = {};
  record.reason.clear();
  record.stop.reset();
  record.stop_commit = record.ended_commit = {};
  record.pause.reset();
  record.outcome = StageState::kSucceeded;
  record.closing = false;
  record.used = {};
  record.ticking = {};
  record.skips.clear();
  const std::vector<bool> done = StayDone(
      record, beginning.stage, beginning.others ? FailedStages(run) : std::set<std::uint32_t>());
  for (std::uint32_t i = 0; i < record.stages.size(); ++i) {
    if (done[i]) continue;
    StageProgress fresh;
    fresh.name = record.stages[i].name;
    record.stages[i] = std::move(fresh);
  }
  StageVisit first;
  first.stage = beginning.stage;
  first.hosts = HostsOf(run, beginning);
  BeginPass(run, first);
  Enter(turn, run, beginning.stage, beginning.entry);
}

AuditFacts RetryFacts(const State& state, const OpenRun& run, const Beginning& beginning) {
  AuditFacts facts = FactsOf(run.run.spec);
  facts.approvals = beginning.around;
  facts.starters = StartersOf(state, run);
  facts.stage = run.run.spec.stages[beginning.stage].name;
  facts.batch = beginning.entry.batch > 0 ? beginning.entry.batch + 1 : 0;
  facts.pass = run.run.pass;
  return facts;
}

void AuditRetry(Turn& turn, const RetryRun& command, const OpenRun& run,
                const Beginning& beginning) {
  AuditEntry entry;
  entry.act = "run.retry";
  entry.object = FormatRunId(run.run.id);
  std::string detail = fmt::format(
      "pass {} from stage {}{}", run.run.pass, run.run.spec.stages[beginning.stage].name,
      command.plan ? fmt::format(", job version {}", command.plan->version) : "");
  if (!beginning.later.Empty()) detail += ", the others from the stage where they failed";
  if (!beginning.around.empty())
    detail += fmt::format(", goes around the approval {}", fmt::join(beginning.around, ", "));
  detail += DespiteFreeze(turn, {.origin = Origin::kPerson,
                                 .during_freeze = command.during_freeze,
                                 .plan = run.run.spec,
                                 .frozen = command.frozen});
  entry.detail = DetailWith(std::move(detail), RetryFacts(turn.state, run, beginning));
  entry.reason = command.reason;
  entry.run = run.run.id;
  auto about = PutHosts(entry, *run.targets, Union(HostsOf(run, beginning), beginning.later));
  turn.Audit(command.caller, std::move(entry), std::move(about));
}

// Tasks that waited for their hosts wait no more.
void ForgetQueued(Turn& turn, const OpenRun& run) {
  StopWaitingOf(turn, run.run.id);
  for (const auto& [id, visit] : run.visits)
    for (std::size_t i = 0; i < visit.slots.size(); ++i)
      if (const auto host = turn.state.hosts.entries.find((*run.targets)[visit.hosts[i]].host);
          host != turn.state.hosts.entries.end())
        host->second.queued.erase({run.run.id, id, visit.hosts[i]});
}

Result<> CheckOpen(const OpenRun& run) {
  if (run.restored)
    return Fail(ErrorCode::kConflict,
                "run {} was open in the backup this server was restored from, and ends by itself",
                FormatRunId(run.run.id));
  if (!run.run.pause)
    return Fail(ErrorCode::kConflict, "run {} is under way; pause or stop it first",
                FormatRunId(run.run.id));
  if (const auto open = run.OpenTasks(); open > 0)
    return Fail(ErrorCode::kConflict, "{} of run {} still run; wait for them, or stop it",
                open == 1 ? "one task" : fmt::format("{} tasks", open), FormatRunId(run.run.id));
  return {};
}

// Runs that an earlier pass started work under its keys, also those that no stage waits for.
Result<> CheckBelow(const State& state, RunId run) {
  const auto below = state.runs.below.find(run);
  if (below == state.runs.below.end()) return {};
  const RunId child = *below->second.begin();
  return Fail(ErrorCode::kConflict, "run {} has the open child {}; stop it first: muster stop {}",
              FormatRunId(run), FormatRunId(child), FormatRunId(child));
}

// An ended run as memory would have it.
Result<OpenRun> Reopen(const State& state, const RetryRun& command) {
  const auto& known = command.known.value;
  if (!known) return Fail(NoSuchRun(command.run));
  const auto ended = state.runs.ended_at.find(command.run);
  const CommitNumber since =
      ended != state.runs.ended_at.end() ? ended->second : state.runs.ended_forgotten_at;
  const bool stale = command.known.commit < since;
  if (stale || !IsFinal(known->run.state))
    return Fail(ErrorCode::kUnavailable, "run {} ended just now; send the request again",
                FormatRunId(command.run));
  OpenRun run;
  run.run = known->run;
  run.targets = known->targets;
  Replay(run, known->visits, known->tasks);
  return run;
}

}  // namespace

void Decide(Turn& turn, const RetryRun& command) {
  const auto open = turn.state.runs.open.find(command.run);
  OpenRun made;
  if (auto free = CheckBelow(turn.state, command.run); !free)
    return turn.Answer(command, Fail(free.error()));
  if (open == turn.state.runs.open.end()) {
    auto reopened = Reopen(turn.state, command);
    if (!reopened) return turn.Answer(command, Fail(reopened.error()));
    made = std::move(*reopened);
  } else {
    if (auto may = CheckOpen(open->second); !may) return turn.Answer(command, Fail(may.error()));
    // Work on a copy until it is sure that the pass can be opened.
    made = open->second;
  }
  // A freeze does not hold an open run back. An ended one begins again, and another version is new
  // work.
  if (open == turn.state.runs.open.end())
    if (auto closed = ClosedGate(turn.state)) return turn.Answer(command, std::move(*closed));
  if (open == turn.state.runs.open.end() || command.plan)
    if (auto frozen = FrozenBy(turn, {.origin = Origin::kPerson,
                                      .during_freeze = command.during_freeze,
                                      .plan = command.plan ? *command.plan : made.run.spec,
                                      .frozen = command.frozen}))
      return turn.Answer(command, std::move(*frozen));
  if (command.plan && made.run.parent)
    return turn.Answer(
        command,
        Fail(ErrorCode::kConflict,
             "run {} was started by run {} and keeps the version that was approved with it; retry "
             "that one with --version latest",
             FormatRunId(command.run), FormatRunId(made.run.parent)));
  const std::size_t changes_before = turn.changes.size();
  EndPass(turn, made);
  auto beginning = FindBeginning(made, command);
  Result<> fits;
  if (beginning) fits = CheckApprovals(turn.state, made, command, *beginning);
  if (beginning && fits && command.plan) fits = CheckPlanBytes(*command.plan);
  if (beginning && fits && command.plan) fits = TakePlan(turn, made, *command.plan, *beginning);
  if (!beginning || !fits || command.dry_run) {
    turn.changes.erase(turn.changes.begin() + static_cast<std::ptrdiff_t>(changes_before),
                       turn.changes.end());
    if (!beginning || !fits)
      return turn.Answer(command, Fail(!beginning ? beginning.error() : fits.error()));
    return turn.Answer(command, PassPlanned{made.targets, HostsOfPass(made, *beginning)});
  }
  if (auto taken = TakeKeysNow(turn, made); !taken) {
    turn.changes.erase(turn.changes.begin() + static_cast<std::ptrdiff_t>(changes_before),
                       turn.changes.end());
    return turn.Answer(command, Fail(taken.error()));
  }
  if (open != turn.state.runs.open.end()) ForgetQueued(turn, open->second);
  turn.state.runs.ended_at.erase(command.run);
  OpenRun& run = turn.state.runs.open.insert_or_assign(command.run, std::move(made)).first->second;
  turn.state.runs.AddBelow(run.run);
  turn.state.runs.CountPlan(run);
  if (!run.run.trigger.empty()) turn.state.triggers.runs[run.run.trigger].insert(command.run);
  run.working = false;
  AddStarter(turn, run, command.caller.name);
  if (command.plan)
    for (const auto& author : command.authors) AddStarter(turn, run, author);
  OpenPass(turn, run, *beginning);
  AuditRetry(turn, command, run, *beginning);
  KeepRun(turn, run);
  turn.Tell(RunNews{.run = run.run.id,
                    .state = run.run.state,
                    .counts = run.counts,
                    .logs_open = 0,
                    .commit = turn.commit,
                    .is_new = true,
                    .whole = std::make_shared<const Run>(run.run),
                    .targets = run.targets});
  turn.Answer(command, RunSteered{run.run.id, run.run.state, run.run.pass});
}

}  // namespace muster::engine
