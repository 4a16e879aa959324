#include "engine/runs/stop.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "domain/no_such_run.hpp"
#include "engine/hosts/unrecorded_tasks.hpp"
#include "engine/runs/approvals.hpp"
#include "engine/runs/audit_hosts.hpp"
#include "engine/runs/dispatch.hpp"
#include "engine/runs/ending.hpp"
#include "engine/runs/keep_run.hpp"
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
    const HostEntry& host = turn.state.hosts.entries.at(attempt->second.key.host);
    if (host.Online())
      turn.FrameFor(host.link).kills.push_back({attempt->second.key, command.grace});
    ArmDeadline(turn, run, visit, ordinal, KillBound(turn.state.options, command.grace));
  }
  if (any) return {};
  const TaskState state = run.hosts[ordinal].Result();
  if (IsFinal(state))
    return Fail(ErrorCode::kConflict, "{} already ended as {}", found->name, Name(state));
  return Fail(ErrorCode::kConflict, "{} has nothing open in run {} now", found->name,
              FormatRunId(run.run.id));
}

Result<> CheckStopWhole(const State& state, const OpenRun& run, const Caller& caller) {
  const GoingAround above{.act = "stopping a run inside another",
                          .approvals = OnSomeCoursesAbove(state, run),
                          .why = std::string(kOnSomeCourses)};
  return CheckGoingAround(state, StartersOf(state, run), above, caller);
}

// The nearest run that the person may stop: this one or one above it. The topmost one always is.
RunId Stoppable(const State& state, const OpenRun& run, const Caller& caller) {
  const OpenRun* at = &run;
  while (!CheckStopWhole(state, *at, caller)) {
    const auto parent = state.runs.open.find(at->run.parent);
    if (parent == state.runs.open.end()) break;
    at = &parent->second;
  }
  return at->run.id;
}

// A whole run can always be stopped by stopping the one above it. A host, or a run inside another,
// cannot by a person who would thereby decide whether an approval is asked for.
Result<> CheckStop(const State& state, const OpenRun& run, const StopRun& command) {
  if (run.Stopping()) return {};
  const Result<> may = command.host
                           ? CheckCourse(state, run, command.caller, "stopping one host of a run")
                           : CheckStopWhole(state, run, command.caller);
  if (may) return {};
  return Fail(ErrorCode::kDenied, "{}; or stop all of it: muster stop {}", may.error().message,
              FormatRunId(Stoppable(state, run, command.caller)));
}

// What a stop means: the hosts that have not ended, or the one it names; of a whole run also those
// of the runs inside it, which stop with it.
struct Touched {
  std::map<HostId, std::string> hosts;
  std::size_t runs_inside = 0;
};

void AddOpenHosts(const OpenRun& run, std::optional<HostId> only, Touched& touched) {
  const Targets& targets = *run.targets;
  for (const auto& [id, visit] : run.visits) {
    for (std::size_t i = 0; i < visit.slots.size(); ++i) {
      const Target& target = targets[visit.hosts[i]];
      if (!IsFinal(visit.slots[i].state) && (!only || target.host == *only))
        touched.hosts.emplace(target.host, target.name);
    }
  }
}

void AddTouched(const State& state, const OpenRun& run, std::optional<HostId> only,
                Touched& touched) {
  AddOpenHosts(run, only, touched);
  const auto below = state.runs.below.find(run.run.id);
  if (only || below == state.runs.below.end()) return;
  for (const RunId id : below->second) {
    ++touched.runs_inside;
    AddOpenHosts(state.runs.open.at(id), only, touched);
  }
}

void AuditStop(Turn& turn, const StopRun& command, const Touched& touched) {
  Targets targets;
  for (const auto& [host, name] : touched.hosts) targets.push_back({host, name});
  AuditEntry entry;
  entry.act = "run.stop";
  entry.object = FormatRunId(command.run);
  if (command.host && !targets.empty()) entry.object += " host " + targets.front().name;
  entry.detail = fmt::format("grace {}", FormatDuration(command.grace));
  if (touched.runs_inside > 0)
    entry.detail += fmt::format(", with {} run{} inside it", touched.runs_inside,
                                touched.runs_inside == 1 ? "" : "s");
  entry.reason = command.reason;
  entry.run = command.run;
  auto about = PutHosts(entry, targets, Ordinals::All(static_cast<std::uint32_t>(targets.size())));
  turn.Audit(command.caller, std::move(entry), std::move(about));
}

void StopOnly(Turn& turn, OpenRun& run, const StopWish& wish) {
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
  }
  KillStrangers(turn, run.run.id, wish.grace);
  turn.Wake(run);
}

}  // namespace

void StopWhole(Turn& turn, OpenRun& run, const StopWish& wish) {
  StopOnly(turn, run, wish);
  const auto below = turn.state.runs.below.find(run.run.id);
  if (below == turn.state.runs.below.end()) return;
  for (const RunId id : below->second) StopOnly(turn, turn.state.runs.open.at(id), wish);
}

void Decide(Turn& turn, const StopRun& command) {
  const auto found = turn.state.runs.open.find(command.run);
  if (found == turn.state.runs.open.end()) {
    if (!command.known.value) return turn.Answer(command, Fail(NoSuchRun(command.run)));
    const RunState state = command.known.value->state;
    // Read before it ended, decided after: it has ended since.
    const std::string_view how = IsFinal(state) ? Name(state) : "ended";
    return turn.Answer(command, Fail(ErrorCode::kConflict, "run {} already ended ({})",
                                     FormatRunId(command.run), how));
  }
  OpenRun& run = found->second;
  if (auto may = CheckStop(turn.state, run, command); !may)
    return turn.Answer(command, Fail(may.error()));
  Touched touched;
  AddTouched(turn.state, run, command.host, touched);
  if (command.host) {
    if (const auto stopped = StopOne(turn, run, command); !stopped)
      return turn.Answer(command, Fail(stopped.error()));
  } else {
    StopWhole(turn, run, {command.caller.name, turn.now.wall, command.reason, command.grace});
  }
  AuditStop(turn, command, touched);
  turn.Answer(command, RunStopping{command.run, run.run.state});
}

}  // namespace muster::engine
