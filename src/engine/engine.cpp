#include "engine/engine.hpp"

#include <utility>

#include "engine/auth/tokens.hpp"
#include "engine/documents/apply.hpp"
#include "engine/hosts/enrol.hpp"
#include "engine/hosts/invites.hpp"
#include "engine/hosts/label.hpp"
#include "engine/hosts/leave.hpp"
#include "engine/hosts/load.hpp"
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
#include "engine/runs/news.hpp"
#include "engine/runs/report.hpp"
#include "engine/runs/server_work.hpp"
#include "engine/runs/start.hpp"
#include "engine/runs/steer.hpp"
#include "engine/runs/stop.hpp"
#include "engine/runs/why.hpp"
#include "engine/secrets/secrets.hpp"
#include "engine/servers/members.hpp"
#include "engine/timers.hpp"
#include "engine/triggers/due_slots.hpp"
#include "engine/triggers/in_memory.hpp"
#include "engine/triggers/steer.hpp"

namespace muster::engine {

Engine::Engine(Snapshot snapshot, Options options, Now now)
    : state_(LoadState(std::move(snapshot), options, now)) {}

Effects Engine::Announce() const {
  Effects effects;
  AnnounceTokens(state_, effects);
  AnnounceHosts(state_, effects);
  AnnounceRuns(state_, effects);
  return effects;
}

void Engine::Begin(Now now, CommitNumber batch, std::vector<Change>& changes, Effects& effects) {
  Turn turn(state_, now, batch, changes, effects);
  TellOfRestore(turn);
}

void Engine::Decide(const AnyCommand& command, Now now, CommitNumber batch,
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
  for (std::size_t left = state_.runs.work.Size(); left > 0 && !turn.Spent(); --left) {
    const auto id = state_.runs.work.Pop();
    if (const auto found = state_.runs.open.find(*id); found != state_.runs.open.end())
      Advance(turn, found->second);
  }
  WriteRuns(turn);
  WriteTriggers(turn);
  if (TriggersDue(state_, now)) return true;
  return !state_.runs.work.Empty() || NextTimer(state_) <= now.mono;
}

void Engine::Summarise(CommitNumber batch, Effects& effects) {
  SummariseRuns(state_, batch, effects);
}

MonoTime Engine::NextWake() const {
  if (!state_.runs.work.Empty()) return {0};
  return std::min(NextTimer(state_), NextTriggerWake(state_));
}

}  // namespace muster::engine
