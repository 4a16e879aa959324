#include "engine/runs/stop.hpp"

#include <algorithm>
#include <set>

#include "domain/host_ranges.hpp"
#include "domain/no_such_run.hpp"
#include "engine/runs/dispatch.hpp"
#include "engine/runs/ending.hpp"
#include "engine/runs/flow.hpp"
#include "engine/runs/server_work.hpp"

namespace muster::engine {
namespace {

// Stops one host in every stage that it has something open in.
Result<> StopOne(Turn& turn, OpenRun& run, const StopRun& command) {
  const auto& targets = *run.targets;
  const auto found = std::ranges::find(targets, *command.host, &Target::host);
  if (found == targets.end())
    return Fail(ErrorCode::kNotFound, "run {} has no such host", FormatRunId(run.run.id));
  const auto ordinal = static_cast<std::uint32_t>(found - targets.begin());
  bool any = false;
  for (auto& [id, visit] : run.visits) {
    if (!visit.Has(ordinal) || IsFinal(visit.At(ordinal).state)) continue;
    any = true;
    const auto attempt = visit.attempts.find(ordinal);
    if (attempt == visit.attempts.end()) {
      if (run.restored)
        return Fail(
            ErrorCode::kConflict,
            "after a restore from backup nobody knows yet whether {} runs it; try again when "
            "the host is back, or stop the whole run",
            found->name);
      EndUnsent(turn, run, visit, ordinal, TaskEvent::kStop, "stopped before it was sent");
      continue;
    }
    attempt->second.stop_wished = true;
    turn.Put(PutTask{attempt->second});
    const HostEntry& host = turn.state.hosts.at(attempt->second.key.host);
    if (host.Online())
      turn.FrameFor(host.link).kills.push_back({attempt->second.key, command.grace});
    ArmDeadline(turn, run, visit, ordinal, KillBound(turn.state.options, command.grace));
  }
  if (any) return {};
  const TaskState state = run.hosts[ordinal].last;
  if (IsFinal(state))
    return Fail(ErrorCode::kConflict, "{} already ended as {}", found->name, Name(state));
  return Fail(ErrorCode::kConflict, "{} has nothing open in run {} now", found->name,
              FormatRunId(run.run.id));
}

// The hosts a stop means: those that have not ended, or the one it names.
std::vector<const Target*> Touched(const OpenRun& run, std::optional<HostId> only) {
  std::set<std::uint32_t> ordinals;
  for (const auto& [id, visit] : run.visits)
    for (std::size_t i = 0; i < visit.slots.size(); ++i)
      if (!IsFinal(visit.slots[i].state)) ordinals.insert(visit.hosts[i]);
  std::vector<const Target*> touched;
  for (const std::uint32_t ordinal : ordinals) {
    const Target& target = (*run.targets)[ordinal];
    if (!only || target.host == *only) touched.push_back(&target);
  }
  return touched;
}

void AuditStop(Turn& turn, const StopRun& command, const std::vector<const Target*>& touched) {
  AuditEntry entry;
  entry.act = "run.stop";
  entry.object = FormatRunId(command.run);
  if (command.host && !touched.empty()) entry.object += " host " + touched.front()->name;
  entry.detail = fmt::format("grace {}", FormatDuration(command.grace));
  entry.reason = command.reason;
  entry.run = command.run;
  entry.hosts = static_cast<std::uint32_t>(touched.size());
  std::vector<std::string> names;
  std::vector<HostId> about;
  for (const Target* target : touched) {
    names.push_back(target->name);
    about.push_back(target->host);
  }
  entry.names = FoldHostNames(names, kMostAuditNames);
  turn.Audit(command.caller, std::move(entry), std::move(about));
}

}  // namespace

void StopWhole(Turn& turn, OpenRun& run, const StopWish& wish) {
  if (!run.run.stop || wish.grace < run.run.stop->grace) {
    if (!run.run.stop) run.run.stop_commit = turn.commit;
    run.run.stop = wish;
    // What is paused ends at once.
    if (run.run.pause) {
      run.run.pause.reset();
      run.run.state = RunState::kRunning;
    }
    KeepRun(turn, run);
  }
  for (auto& [id, visit] : run.visits) {
    visit.winding_up = true;
    visit.kill_cursor = 0;
    StopServerWork(turn, visit);
    if (const auto child = turn.state.runs.find(visit.record.child); child != turn.state.runs.end())
      StopWhole(turn, child->second, wish);
  }
  turn.Wake(run);
}

void Decide(Turn& turn, const StopRun& command) {
  const auto found = turn.state.runs.find(command.run);
  if (found == turn.state.runs.end()) {
    if (!command.known.value) return turn.Answer(command.caller, Fail(NoSuchRun(command.run)));
    const RunState state = command.known.value->state;
    // Read before it ended, decided after: it has ended since.
    const std::string_view how = IsFinal(state) ? Name(state) : "ended";
    return turn.Answer(command.caller, Fail(ErrorCode::kConflict, "run {} already ended ({})",
                                            FormatRunId(command.run), how));
  }
  OpenRun& run = found->second;
  const std::vector<const Target*> touched = Touched(run, command.host);
  if (command.host) {
    if (const auto stopped = StopOne(turn, run, command); !stopped)
      return turn.Answer(command.caller, Fail(stopped.error()));
  } else {
    StopWhole(turn, run, {command.caller.name, turn.now.wall, command.reason, command.grace});
  }
  AuditStop(turn, command, touched);
  turn.Answer(command.caller, RunStopping{command.run, run.run.state});
}

}  // namespace muster::engine
