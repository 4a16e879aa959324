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
#include "engine/runs/entering.hpp"
#include "engine/runs/flow.hpp"
#include "engine/runs/replay.hpp"
#include "engine/runs/start.hpp"
#include "engine/runs/steer.hpp"

namespace muster::engine {
namespace {

// Where a pass begins, and with whom.
struct Beginning {
  std::uint32_t stage = 0;
  Entry entry;
  bool others = false;                   // hosts that failed elsewhere go on, too
  Ordinals later = {};                   // these hosts
  std::vector<std::string> around = {};  // names of approvals that it surely leaves out
};

Ordinals OkHosts(const OpenRun& run) {
  Ordinals hosts;
  for (std::uint32_t i = 0; i < run.hosts.size(); ++i)
    if (run.hosts[i].Ok()) hosts.Insert(i);
  return hosts;
}

// Without hosts of its own a pass begins on those that are still well.
Ordinals HostsOf(const OpenRun& run, const Beginning& beginning) {
  return beginning.entry.hosts ? *beginning.entry.hosts : OkHosts(run);
}

Result<std::uint32_t> StageNamed(const RunSpec& plan, const std::string& name) {
  const auto found = std::ranges::find(plan.stages, name, &StageSpec::name);
  if (found == plan.stages.end())
    return Fail(ErrorCode::kNotFound, "the job has no stage '{}'", name);
  if (!InMainList(*found))
    return Fail(ErrorCode::kInvalid,
                "stage '{}' is not one of the main list; a retry begins with one of those, and "
                "does the `finally` stages at its end",
                name);
  return static_cast<std::uint32_t>(found - plan.stages.begin());
}

// Which hosts take part, by the stages of the plan the run had.
Ordinals HostsFor(const OpenRun& run, std::uint32_t stage, const RetryRun& command) {
  if (command.from_start) return Ordinals::All(run.run.hosts);
  const bool also_ok = command.all_hosts || !command.from.empty();
  Ordinals hosts;
  for (std::uint32_t i = 0; i < run.hosts.size(); ++i) {
    const HostFlow& host = run.hosts[i];
    const std::uint32_t top = host.Ok() ? 0 : TopLevelOf(run.run.spec, host.dropped_at);
    const bool wanted = host.Ok() ? also_ok : also_ok ? top >= stage : top == stage;
    if (wanted || (command.all_hosts && !command.from.empty())) hosts.Insert(i);
  }
  return hosts;
}

// Why there is nothing to retry. Only the main list is done again by itself.
Error NothingFailed(const OpenRun& run) {
  const std::string id = FormatRunId(run.run.id);
  for (const auto& [stage, visit] : run.ended) {
    if (!visit.in_finally || visit.parent || WentWell(visit.state)) continue;
    AuditEntry on;
    PutHosts(on, *run.targets, visit.dropped);
    return {ErrorCode::kConflict,
            fmt::format("every host of run {} came through, but stage {} failed{}{}; `finally` "
                        "stages are only done again behind others: name one with --from STAGE or "
                        "--from-start, or start a new run: muster rerun {}",
                        id, visit.name, on.names.empty() ? "" : " on ", on.names, id)};
  }
  return {ErrorCode::kConflict,
          fmt::format("every host of run {} came through; name what to repeat with --from STAGE or "
                      "--from-start",
                      id)};
}

Result<Beginning> FindBeginning(const OpenRun& run, const RetryRun& command) {
  Beginning beginning;
  const RunSpec& spec = run.run.spec;
  if (!command.from.empty()) {
    const auto stage = StageNamed(spec, command.from);
    if (!stage) return Fail(stage.error());
    beginning.stage = *stage;
  } else if (command.from_start) {
    const auto first = std::ranges::find_if(spec.stages, InMainList);
    beginning.stage = static_cast<std::uint32_t>(first - spec.stages.begin());
  } else {
    const auto stage = FirstOf(spec, FailedStages(run));
    if (!stage) return Fail(NothingFailed(run));
    beginning.stage = *stage;
    beginning.others = true;
  }
  beginning.entry.hosts = HostsFor(run, beginning.stage, command);
  if (beginning.entry.hosts->Empty() && WorksOnHosts(spec.stages[beginning.stage]))
    return Fail(ErrorCode::kConflict, "no host of run {} {} stage {}", FormatRunId(run.run.id),
                command.from.empty() ? "failed in" : "came to", spec.stages[beginning.stage].name);
  const bool plain = command.from.empty() && !command.from_start && !command.all_hosts;
  if (plain) {
    beginning.entry.begins = BeginsOf(run, beginning.stage, *beginning.entry.hosts);
    ContinueBatches(run, run.courses, beginning.stage, beginning.entry);
  }
  if (beginning.others)
    for (const auto& [stage, hosts] : DroppedOut(run))
      beginning.later = Union(beginning.later, Difference(hosts, *beginning.entry.hosts));
  // A stage that is not about hosts is for those that are ok, and brings nobody back.
  if (beginning.entry.hosts->Empty()) beginning.entry.hosts.reset();
  return beginning;
}

// The hosts that the first stage will be entered with.
Ordinals FirstHosts(const OpenRun& run, const Beginning& beginning) {
  if (beginning.entry.hosts) return *beginning.entry.hosts;
  return ChooseHosts(run, run.run.spec.stages[beginning.stage], {});
}

// These, and those that join in a later stage.
Ordinals HostsOfPass(const OpenRun& run, const Beginning& beginning) {
  return Union(FirstHosts(run, beginning), beginning.later);
}

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
  const auto stage = StageNamed(plan, name);
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
    const auto stage = StageNamed(*command.plan, name);
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
      if (const auto host = turn.state.hosts.find((*run.targets)[visit.hosts[i]].host);
          host != turn.state.hosts.end())
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
  const auto below = state.below.find(run);
  if (below == state.below.end()) return {};
  const RunId child = *below->second.begin();
  return Fail(ErrorCode::kConflict, "run {} has the open child {}; stop it first: muster stop {}",
              FormatRunId(run), FormatRunId(child), FormatRunId(child));
}

// An ended run as memory would have it.
Result<OpenRun> Reopen(const State& state, const RetryRun& command) {
  const auto& known = command.known.value;
  if (!known) return Fail(NoSuchRun(command.run));
  const auto ended = state.ended_at.find(command.run);
  const CommitNumber since =
      ended != state.ended_at.end() ? ended->second : state.ended_forgotten_at;
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
  const auto open = turn.state.runs.find(command.run);
  OpenRun made;
  if (auto free = CheckBelow(turn.state, command.run); !free)
    return turn.Answer(command.caller, Fail(free.error()));
  if (open == turn.state.runs.end()) {
    auto reopened = Reopen(turn.state, command);
    if (!reopened) return turn.Answer(command.caller, Fail(reopened.error()));
    made = std::move(*reopened);
  } else {
    if (auto may = CheckOpen(open->second); !may)
      return turn.Answer(command.caller, Fail(may.error()));
    // Work on a copy until it is sure that the pass can be opened.
    made = open->second;
  }
  // A freeze does not hold an open run back. An ended one begins again, and another version is new
  // work.
  if (open == turn.state.runs.end())
    if (auto closed = ClosedGate(turn.state))
      return turn.Answer(command.caller, std::move(*closed));
  if (open == turn.state.runs.end() || command.plan)
    if (auto frozen = FrozenBy(turn, {.origin = Origin::kPerson,
                                      .during_freeze = command.during_freeze,
                                      .plan = command.plan ? *command.plan : made.run.spec,
                                      .frozen = command.frozen}))
      return turn.Answer(command.caller, std::move(*frozen));
  if (command.plan && made.run.parent)
    return turn.Answer(
        command.caller,
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
      return turn.Answer(command.caller, Fail(!beginning ? beginning.error() : fits.error()));
    return turn.Answer(command.caller, PassPlanned{made.targets, HostsOfPass(made, *beginning)});
  }
  if (auto taken = TakeKeysNow(turn, made); !taken) {
    turn.changes.erase(turn.changes.begin() + static_cast<std::ptrdiff_t>(changes_before),
                       turn.changes.end());
    return turn.Answer(command.caller, Fail(taken.error()));
  }
  if (open != turn.state.runs.end()) ForgetQueued(turn, open->second);
  turn.state.ended_at.erase(command.run);
  OpenRun& run = turn.state.runs.insert_or_assign(command.run, std::move(made)).first->second;
  turn.state.AddBelow(run.run);
  turn.state.CountPlan(run);
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
  turn.Answer(command.caller, RunSteered{run.run.id, run.run.state, run.run.pass});
}

}  // namespace muster::engine
