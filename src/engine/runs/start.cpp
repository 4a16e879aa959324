#include "engine/runs/start.hpp"

#include <algorithm>

#include "domain/left_out_text.hpp"
#include "domain/plan_bytes.hpp"
#include "engine/hosts/copies.hpp"
#include "engine/hosts/maintenance.hpp"
#include "engine/keeping/gates.hpp"
#include "engine/keys.hpp"
#include "engine/limiter/freezes.hpp"
#include "engine/limiter/limiter.hpp"
#include "engine/runs/keep_run.hpp"
#include "engine/runs/next_stage.hpp"

namespace muster::engine {
namespace {

KeyedRequest KeyOf(const StartRun& command) {
  return {command.caller, command.key, command.body_sha256, command.known};
}

AboutToStart StartOf(const StartRun& command) {
  return {.origin = command.origin,
          .during_freeze = command.during_freeze,
          .plan = command.spec,
          .frozen = command.frozen};
}

}  // namespace

void SettleOutput(Run& run) {
  for (auto& stage : run.spec.stages) {
    const HostAction shared = SharedCommandOf(stage);
    if (!shared || shared->max_output != muster::Command::kShareOfRun) continue;
    muster::Command command = *shared;
    command.max_output = OutputShare(run.hosts);
    stage.action = std::make_shared<const muster::Command>(std::move(command));
  }
}

void ResetProgress(Run& run) {
  run.stages.clear();
  for (const auto& stage : run.spec.stages) {
    StageProgress progress;
    progress.name = stage.name;
    run.stages.push_back(std::move(progress));
  }
}

OpenRun& CreateRun(Turn& turn, NewRun made) {
  const RunId id = MakeRunId(turn.state.id_space, turn.state.runs.next++);
  OpenRun& open = turn.state.runs.open[id];
  Run& run = open.run;
  run.id = id;
  run.state = RunState::kRunning;
  run.by = made.caller.name;
  run.spec = std::move(made.spec);
  run.hosts = static_cast<std::uint32_t>(made.targets->size());
  run.created = turn.now.wall;
  run.parent = made.parent;
  run.parent_visit = made.parent_visit;
  if (const auto parent = turn.state.runs.open.find(made.parent);
      parent != turn.state.runs.open.end()) {
    run.above = parent->second.run.above;
    run.above.push_back(made.parent);
    run.keys_above = KeysBelow(parent->second);
    turn.state.runs.AddBelow(run);
  }
  run.guarded = made.guarded;
  run.trigger = std::move(made.trigger);
  run.slot = made.slot;
  run.trace_parent = std::move(made.trace_parent);
  for (auto& name : made.starters)
    if (!name.empty() && name != run.by &&
        std::ranges::find(run.starters, name) == run.starters.end())
      run.starters.push_back(std::move(name));
  if (!run.trigger.empty()) turn.state.triggers.runs[run.trigger].insert(id);
  SettleOutput(run);
  turn.state.runs.CountPlan(open);
  ResetProgress(run);
  open.targets = std::move(made.targets);
  open.hosts.resize(run.hosts);
  open.counts[TaskState::kWaiting] = run.hosts;
  turn.Put(PutPlan{id, std::make_shared<const RunSpec>(run.spec)});
  turn.Put(PutTargets{id, open.targets});
  AuditStart(turn, made.caller, open, std::move(made.note));
  // Begun when its turn comes, which for most is at once.
  if (!TakeRunKeys(turn, open))
    run.state = RunState::kQueued;
  else if (!run.closing)
    Begin(turn, open);
  turn.Wake(open);
  KeepRun(turn, open);
  turn.Tell(RunNews{.run = id,
                    .state = run.state,
                    .counts = open.counts,
                    .logs_open = 0,
                    .commit = turn.commit,
                    .is_new = true,
                    .whole = std::make_shared<const Run>(run),
                    .targets = open.targets});
  turn.TellRun(open);
  return open;
}

void Decide(Turn& turn, const StartRun& command) {
  if (!command.key.empty()) {
    const auto known = KnownKey(turn, KeyOf(command));
    if (!known) return turn.Answer(command, Fail(known.error()));
    if (*known) {
      const auto open = turn.state.runs.open.find((*known)->run);
      const std::uint32_t hosts = open == turn.state.runs.open.end() ? 0 : open->second.run.hosts;
      return turn.Answer(command,
                         RunStarted{(*known)->run, RunState::kRunning, hosts, turn.commit, true});
    }
  }
  if (auto fits = CheckPlanBytes(command.spec); !fits)
    return turn.Answer(command, Fail(fits.error()));
  if (auto closed = ClosedGate(turn.state)) return turn.Answer(command, std::move(*closed));
  if (auto frozen = FrozenBy(turn, StartOf(command)))
    return turn.Answer(command, std::move(*frozen));
  Available hosts = LeaveOutMaintained(turn, command.targets);
  std::string remark(DespiteFreeze(turn, StartOf(command)));
  if (command.include_maintenance) {
    if (!hosts.left_out.empty()) remark += "; in spite of " + hosts.left_out;
    hosts = {.targets = command.targets, .left_out = ""};
  }
  hosts.AddLeftOut(command.never_joined);
  if (command.require_all) {
    Available all = hosts;
    all.AddLeftOut(CopiesAmong(turn.state, *hosts.targets));
    if (!all.left_out.empty())
      return turn.Answer(command,
                         GateClosed{.gate = "left_out", .reason = SomeLeftOutText(all.left_out)});
  }
  if (hosts.targets->empty())
    return turn.Answer(command,
                       GateClosed{.gate = "maintenance", .reason = NoHostLeftText(hosts.left_out)});
  RunSpec spec = command.spec;
  spec.left_out = std::move(hosts.left_out);
  OpenRun& run = CreateRun(
      turn,
      {.caller = command.caller,
       .spec = std::move(spec),
       .targets = std::move(hosts.targets),
       .note = {.reason = command.reason, .names = command.names, .remark = std::move(remark)},
       .trace_parent = command.trace_parent});
  if (!command.key.empty()) RememberKey(turn, KeyOf(command), run.run.id);
  turn.Answer(command, RunStarted{run.run.id, run.run.state, run.run.hosts, turn.commit, false,
                                  run.run.spec.left_out});
}

}  // namespace muster::engine
