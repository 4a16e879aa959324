#include "engine/engine.hpp"

#include <utility>

#include "engine/auth/tokens.hpp"
#include "engine/documents/apply.hpp"
#include "engine/hosts/enrol.hpp"
#include "engine/hosts/invites.hpp"
#include "engine/hosts/label.hpp"
#include "engine/hosts/leave.hpp"
#include "engine/hosts/maintenance.hpp"
#include "engine/hosts/presence.hpp"
#include "engine/keeping/gates.hpp"
#include "engine/keeping/restored.hpp"
#include "engine/keeping/retention.hpp"
#include "engine/limiter/freezes.hpp"
#include "engine/load.hpp"
#include "engine/notices/notices.hpp"
#include "engine/runs/files.hpp"
#include "engine/runs/flow.hpp"
#include "engine/runs/keep_run.hpp"
#include "engine/runs/report.hpp"
#include "engine/runs/server_work.hpp"
#include "engine/runs/start.hpp"
#include "engine/runs/steer.hpp"
#include "engine/runs/stop.hpp"
#include "engine/runs/timers.hpp"
#include "engine/runs/why.hpp"
#include "engine/secrets/secrets.hpp"
#include "engine/servers/members.hpp"
#include "engine/triggers/due_slots.hpp"
#include "engine/triggers/in_memory.hpp"
#include "engine/triggers/steer.hpp"

namespace muster::engine {
namespace {

std::uint32_t LogsOpen(const State& state, RunId run) {
  const auto found = state.logs_open.find(run);
  return found == state.logs_open.end() ? 0 : found->second;
}

std::vector<std::pair<std::uint32_t, TaskCounts>> OpenStages(const OpenRun& run) {
  std::vector<std::pair<std::uint32_t, TaskCounts>> stages;
  for (const auto& [id, visit] : run.visits)
    if (!visit.slots.empty()) stages.emplace_back(visit.record.stage, visit.counts);
  return stages;
}

}  // namespace

Engine::Engine(Snapshot snapshot, Options options, Now now)
    : state_(LoadState(std::move(snapshot), options, now)) {}

Effects Engine::Announce() const {
  Effects effects;
  TokenNews tokens{.tokens = {}, .dropped = {}, .all = true};
  for (const auto& [name, token] : state_.tokens) tokens.tokens.push_back(token);
  effects.news.push_back(std::move(tokens));
  for (const auto& [id, entry] : state_.hosts)
    effects.news.push_back(HostNews{entry.host, entry.Online(), entry.address});
  for (const auto& [id, open] : state_.runs) {
    effects.news.push_back(RunNews{.run = id,
                                   .state = open.run.state,
                                   .counts = open.counts,
                                   .logs_open = LogsOpen(state_, id),
                                   .commit = state_.loaded_at,
                                   .is_new = true,
                                   .whole = std::make_shared<const Run>(open.run),
                                   .targets = open.targets,
                                   .stages = OpenStages(open)});
    for (const auto& [number, visit] : open.visits)
      for (std::size_t i = 0; i < visit.slots.size(); ++i) {
        const Slot& slot = visit.slots[i];
        const std::uint32_t ordinal = visit.hosts[i];
        if (slot.state == TaskState::kWaiting) continue;
        effects.news.push_back(TaskNews{
            .task = {id, number, ordinal, (*open.targets)[ordinal].host, Attempt(slot.attempt)},
            .state = slot.state,
            .reason = {},
            .commit = state_.loaded_at});
      }
  }
  // Ended runs whose output is still coming.
  for (const auto& [id, count] : state_.logs_open)
    if (!state_.runs.contains(id))
      effects.news.push_back(RunNews{.run = id,
                                     .counts = {},
                                     .logs_open = count,
                                     .commit = state_.loaded_at,
                                     .whole = {},
                                     .targets = {}});
  return effects;
}

void Engine::Begin(Now now, CommitNumber batch, std::vector<Change>& changes, Effects& effects) {
  Turn turn(state_, now, batch, changes, effects);
  TellOfRestore(turn);
}

void Engine::Decide(const Command& command, Now now, CommitNumber batch,
                    std::vector<Change>& changes, Effects& effects) {
  Turn turn(state_, now, batch, changes, effects);
  state_.triggers.looked = now;
  std::visit([&turn](const auto& one) { engine::Decide(turn, one); }, command);
  WriteRuns(turn);
  WriteTriggers(turn);
}

bool Engine::Continue(Now now, CommitNumber batch, std::vector<Change>& changes, Effects& effects) {
  Turn turn(state_, now, batch, changes, effects);
  state_.triggers.looked = now;
  FireTimers(turn);
  LookAtTriggers(turn);
  // One pass over what is waiting now: what wakes itself again comes next time, after other
  // commands.
  for (std::size_t left = state_.work.Size(); left > 0 && !turn.Spent(); --left) {
    const auto id = state_.work.Pop();
    if (const auto found = state_.runs.find(*id); found != state_.runs.end())
      Advance(turn, found->second);
  }
  WriteRuns(turn);
  WriteTriggers(turn);
  if (TriggersDue(state_, now)) return true;
  if (!state_.lost_over.empty() && state_.lost_over.begin()->first <= now.mono) return true;
  return !state_.work.Empty() || (!state_.timers.empty() && state_.timers.top().at <= now.mono);
}

void Engine::Summarise(CommitNumber batch, Effects& effects) {
  for (const RunId id : std::exchange(state_.untold, {})) {
    const auto found = state_.runs.find(id);
    RunNews news{.run = id,
                 .counts = {},
                 .logs_open = LogsOpen(state_, id),
                 .commit = batch,
                 .whole = {},
                 .targets = {}};
    if (found != state_.runs.end()) {
      news.state = found->second.run.state;
      news.counts = found->second.counts;
      news.stages = OpenStages(found->second);
      if (state_.changed_runs.erase(id) > 0)
        news.whole = std::make_shared<const Run>(found->second.run);
    }  // else: it has ended, and only its output was still coming; kCreated stands for "as before"
    effects.news.push_back(std::move(news));
  }
}

MonoTime Engine::NextWake() const {
  if (!state_.work.Empty()) return {0};
  const MonoTime lost = state_.lost_over.empty() ? kNever : state_.lost_over.begin()->first;
  const MonoTime triggers = NextTriggerWake(state_);
  return std::min(std::min(lost, triggers),
                  state_.timers.empty() ? kNever : state_.timers.top().at);
}

}  // namespace muster::engine
