#include "engine/runs/start.hpp"

#include "engine/keeping/gates.hpp"
#include "engine/keys.hpp"
#include "engine/runs/dispatch.hpp"

namespace muster::engine {
namespace {

KeyedRequest KeyOf(const StartRun& command) {
  return {command.caller, command.key, command.body_sha256, command.known};
}

// A run pins what it started with, so each host's part of its output is settled here.
void SettleOutput(Run& run) {
  for (auto& stage : run.spec.stages) {
    if (stage.command->max_output != muster::Command::kShareOfRun) continue;
    muster::Command command = *stage.command;
    command.max_output = OutputShare(run.hosts);
    stage.command = std::make_shared<const muster::Command>(std::move(command));
  }
}

OpenRun MakeRun(Turn& turn, const StartRun& command) {
  OpenRun open;
  Run& run = open.run;
  run.id = MakeRunId(turn.state.id_space, turn.state.next_run++);
  run.state = RunState::kRunning;
  run.by = command.caller.name;
  run.spec = command.spec;
  run.hosts = static_cast<std::uint32_t>(command.targets->size());
  run.created = turn.now.wall;
  SettleOutput(run);
  run.stages.push_back({.visit = Visit(1),
                        .index = 0,
                        .state = StageState::kRunning,
                        .started = turn.now.wall,
                        .ended = {},
                        .counts = {}});
  open.targets = command.targets;
  open.slots.resize(run.hosts);
  open.counts[TaskState::kWaiting] = run.hosts;
  OpenBatch(open, 0, 0);
  return open;
}

void AuditStart(Turn& turn, const StartRun& command, const Run& run) {
  AuditEntry entry;
  entry.act = kActRunStart;
  entry.object = FormatRunId(run.id);
  entry.detail = fmt::format("{} on {} hosts ({})", run.spec.title, run.hosts, run.spec.targets);
  entry.reason = command.reason;
  entry.run = run.id;
  entry.hosts = run.hosts;
  entry.names = command.names;
  const muster::Command& executed = *run.spec.stages.front().command;
  entry.command = AuditText(executed);
  entry.command_sha256 = CommandHash(executed);
  turn.Audit(command.caller, std::move(entry));
}

}  // namespace

void Decide(Turn& turn, const StartRun& command) {
  if (!command.key.empty()) {
    const auto known = KnownKey(turn, KeyOf(command));
    if (!known) return turn.Answer(command.caller, Fail(known.error()));
    if (*known) {
      const auto open = turn.state.runs.find((*known)->run);
      const std::uint32_t hosts = open == turn.state.runs.end() ? 0 : open->second.run.hosts;
      return turn.Answer(command.caller,
                         RunStarted{(*known)->run, RunState::kRunning, hosts, turn.commit, true});
    }
  }
  if (auto closed = ClosedGate(turn.state)) return turn.Answer(command.caller, std::move(*closed));
  OpenRun made = MakeRun(turn, command);
  const RunId id = made.run.id;
  OpenRun& run = turn.state.runs.emplace(id, std::move(made)).first->second;
  turn.Put(PutRun{run.run});
  turn.Put(PutTargets{id, run.targets});
  if (!command.key.empty()) RememberKey(turn, KeyOf(command), id);
  AuditStart(turn, command, run.run);
  turn.Tell(RunNews{.run = id,
                    .state = run.run.state,
                    .counts = run.counts,
                    .logs_open = 0,
                    .commit = turn.commit,
                    .is_new = true,
                    .whole = std::make_shared<const Run>(run.run),
                    .targets = run.targets});
  turn.Answer(command.caller, RunStarted{id, run.run.state, run.run.hosts, turn.commit, false});
  turn.Wake(run);
}

}  // namespace muster::engine
