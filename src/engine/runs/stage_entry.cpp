#include "engine/runs/stage_entry.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "domain/approvals.hpp"
#include "domain/host_result.hpp"
#include "engine/notices/notices.hpp"
#include "engine/runs/again.hpp"
#include "engine/runs/dispatch.hpp"
#include "engine/runs/flow.hpp"
#include "engine/runs/host_flow.hpp"
#include "engine/runs/keep_run.hpp"
#include "engine/runs/render.hpp"
#include "engine/runs/sequence.hpp"
#include "engine/runs/stage_order.hpp"

namespace muster::engine {
namespace {

void Skip(Turn& turn, OpenRun& run, std::uint32_t stage, std::string reason) {
  StageProgress& progress = run.run.stages[stage];
  progress.state = StageState::kSkipped;
  progress.reason = std::move(reason);
  progress.ended = turn.now.wall;
}

// Why a stage is left out, "" when it is not.
Result<std::string> WhySkipped(const OpenRun& run, std::uint32_t stage, const Ordinals& hosts) {
  const StageSpec& spec = run.run.spec.stages[stage];
  if (std::ranges::find(run.run.skips, stage) != run.run.skips.end())
    return std::string("an operator skipped it");
  if (IsAboutHosts(spec) && hosts.Empty())
    return std::string(ThroughBefore(run, stage) > 0 ? "its hosts came through it before"
                                                     : "there is no host for it");
  const auto holds = HoldsNow(run, spec.when);
  if (!holds) return Fail(holds.error());
  return *holds ? std::string() : fmt::format("when: {}", spec.when);
}

void FailAtOnce(OpenVisit& visit, std::string reason) {
  visit.record.reason = std::move(reason);
  visit.ends_as = StageState::kFailed;
}

void BeginWait(Turn& turn, OpenRun& run, OpenVisit& visit, const WaitAction& wait) {
  Duration left = wait.time;
  if (!wait.until.empty()) {
    const auto text = RenderText(run, wait.until);
    if (!text) return FailAtOnce(visit, text.error().message);
    const WallTime until = ParseTime(*text);
    if (!until)
      return FailAtOnce(visit, fmt::format("'{}' is no time; write 2026-01-31T12:00:00Z", *text));
    left = std::max(Duration::zero(), until - turn.now.wall);
  }
  visit.record.until = turn.now.wall + left;
  ArmVisit(turn, run, visit, turn.now.mono + left);
}

void BeginTasks(OpenRun& run, OpenVisit& visit) {
  auto command = RenderForAll(run, run.SpecOf(visit));
  if (!command) {
    visit.slots.clear();
    return FailAtOnce(visit, command.error().message);
  }
  visit.command = std::move(*command);
  OpenTasks(run, visit);
}

// The hosts a `switch` was about: those of the visit that took it.
const StageVisit* VisitOf(const OpenRun& run, Visit visit) {
  for (const auto& [stage, ended] : run.ended)
    if (ended.visit == visit) return &ended;
  return nullptr;
}

// In a graph, the visits that the stage waited for; a pass may take what an earlier one did.
std::optional<std::vector<Visit>> NeedsInGraph(const OpenRun& run, std::uint32_t stage) {
  const RunSpec& spec = run.run.spec;
  if (!InMainList(spec.stages[stage]) || !IsGraph(spec)) return std::nullopt;
  std::vector<Visit> visits;
  for (const std::uint32_t need : NeedsOf(spec, stage))
    if (run.run.stages[need].visit) visits.push_back(run.run.stages[need].visit);
  return visits;
}

StageVisit MakeRecord(Turn& turn, OpenRun& run, std::uint32_t stage, const Opening& opening) {
  StageVisit record;
  record.visit = Visit(run.run.next_visit++);
  record.stage = stage;
  record.name = run.run.spec.stages[stage].name;
  record.pass = run.run.pass;
  record.parent = opening.parent;
  record.from = opening.entry.from;
  record.recovers = run.run.spec.stages[stage].recovers;
  record.onward = OnwardFrom(run.run.spec, stage);
  record.in_finally = SectionOf(run.run.spec, stage) == Section::kFinally;
  record.needs = NeedsInGraph(run, stage);
  record.started = turn.now.wall;
  record.hosts = opening.hosts;
  record.batch = opening.entry.batch;
  record.batch_end = opening.entry.batch_hosts;
  return record;
}

void CountVisit(Turn& turn, OpenRun& run, const StageVisit& record) {
  StageProgress& progress = run.run.stages[record.stage];
  progress.state = StageState::kRunning;
  progress.visit = record.visit;
  progress.reason.clear();
  progress.ended = {};
  progress.batch = run.run.spec.stages[record.stage].batches.Empty() ? 0 : record.batch + 1;
  progress.hosts += record.hosts.Count();
  if (progress.visits++ == 0) progress.started = turn.now.wall;
  MarkEntered(run, record);
  EnterAgain(run, record);
}

}  // namespace

bool IsAboutHosts(const StageSpec& spec) {
  return WorksOnHosts(spec) || std::holds_alternative<SequenceAction>(spec.action) ||
         std::holds_alternative<JobAction>(spec.action);
}

Ordinals ChooseHosts(const OpenRun& run, const StageSpec& spec, Visit from) {
  const StageVisit* origin = from ? VisitOf(run, from) : nullptr;
  if (spec.hosts == HostChoice::kAll) return Ordinals::All(run.run.hosts);
  if (origin != nullptr && spec.hosts == HostChoice::kTouched) return origin->touched;
  if (origin != nullptr && spec.hosts == HostChoice::kFailed) return origin->dropped;
  Ordinals hosts;
  for (std::uint32_t i = 0; i < run.hosts.size(); ++i) {
    const HostFlow& host = run.hosts[i];
    const bool wanted = spec.hosts == HostChoice::kOk       ? host.Ok()
                        : spec.hosts == HostChoice::kFailed ? !host.Ok()
                                                            : host.touched;
    if (wanted) hosts.Insert(i);
  }
  return hosts;
}

void KeepVisit(Turn& turn, const OpenRun& run, const OpenVisit& visit) {
  turn.Put(PutVisit{run.run.id, visit.record});
}

void AskPerson(Turn& turn, OpenRun& run, OpenVisit& visit, const ApproveAction& approve) {
  const auto message = RenderText(run, approve.message);
  if (!message) return FailAtOnce(visit, message.error().message);
  if (message->size() > ApproveAction::kMostMessage)
    return FailAtOnce(
        visit, fmt::format("its message has {} with the values in it, and may have "
                           "{}; shorten it, or name fewer values",
                           FormatSize(message->size()), FormatSize(ApproveAction::kMostMessage)));
  visit.record.message = *message;
  visit.record.state = StageState::kAwaitingApproval;
  visit.record.decision.reset();
  visit.record.until = turn.now.wall + approve.timeout;
  run.run.stages[visit.record.stage].state = StageState::kAwaitingApproval;
  TellChannels(turn, run, "awaiting_approval",
               fmt::format("stage {}: {}", visit.record.name, visit.record.message));
  KeepVisit(turn, run, visit);
  ArmVisit(turn, run, visit, turn.now.mono + approve.timeout);
  KeepRun(turn, run);
}

bool OpenStage(Turn& turn, OpenRun& run, std::uint32_t stage, const Opening& opening) {
  const StageSpec& spec = run.run.spec.stages[stage];
  const auto skipped = WhySkipped(run, stage, opening.hosts);
  if (skipped && !skipped->empty()) {
    Skip(turn, run, stage, *skipped);
    return false;
  }
  StageVisit record = MakeRecord(turn, run, stage, opening);
  CountVisit(turn, run, record);
  ForgetReported(run, record);
  const Visit id = record.visit;
  OpenVisit& visit = run.visits[id];
  visit.record = std::move(record);
  visit.hosts = visit.record.hosts.List();
  KeepRun(turn, run);
  turn.Wake(run);
  if (!skipped) {
    FailAtOnce(visit, skipped.error().message);
  } else if (const auto limit = spec.max_visits;
             run.run.stages[stage].visits > limit && !opening.parent) {
    FailAtOnce(visit, fmt::format("it was entered more than {} times (max_visits)", limit));
  } else if (WorksOnHosts(spec)) {
    BeginTasks(run, visit);
  } else if (std::holds_alternative<SequenceAction>(spec.action)) {
    KeepVisit(turn, run, visit);
    OpenSequence(turn, run, visit, opening.entry);
    return true;
  } else if (const auto* approve = std::get_if<ApproveAction>(&spec.action)) {
    AskPerson(turn, run, visit, *approve);
  } else if (const auto* wait = std::get_if<WaitAction>(&spec.action)) {
    BeginWait(turn, run, visit, *wait);
  }
  KeepVisit(turn, run, visit);
  return true;
}

}  // namespace muster::engine
