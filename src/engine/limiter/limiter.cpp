#include "engine/limiter/limiter.hpp"

#include <algorithm>
#include <iterator>

#include "engine/runs/dispatch.hpp"
#include "engine/runs/render.hpp"

namespace muster::engine {
namespace {

// Of rows that do not say it; most tasks have a timeout of an hour.
constexpr Duration kLostAfterLoad = std::chrono::hours(2);

Result<std::vector<WantedKey>> RunKeysOf(const OpenRun& run) {
  std::vector<WantedKey> keys;
  for (const auto& limit : run.run.spec.limits) {
    auto key = RenderText(run, limit.key);
    if (!key) return Fail(ErrorCode::kInvalid, "limit: {}", key.error().message);
    keys.push_back({std::move(*key), limit.max});
  }
  return keys;
}

// The run itself, or one above it, ended or not.
bool HeldAbove(const State& state, const OpenRun& run, const std::string& key) {
  const auto found = state.keys_held.find(key);
  if (found == state.keys_held.end()) return false;
  const auto holds = [&](RunId id) { return found->second.holders.contains(HolderOf(id)); };
  return holds(run.run.id) || std::ranges::any_of(run.run.above, holds);
}

// Lets it ask anew; false when it is gone.
bool Wake(Turn& turn, const TaskPlace& waiter) {
  const auto run = turn.state.runs.find(waiter.run);
  if (run == turn.state.runs.end()) return false;
  if (!waiter.visit) {
    turn.Wake(run->second);
    return true;
  }
  const auto visit = run->second.visits.find(waiter.visit);
  if (visit == run->second.visits.end() || !visit->second.Has(waiter.ordinal)) return false;
  if (visit->second.At(waiter.ordinal).state != TaskState::kQueued) return false;
  MakeReady(turn, run->second, visit->second, waiter.ordinal);
  return true;
}

// The first that waits asks anew and keeps its place until it has what it wants or gives up. Either
// way the next one is woken then, so that no free place is forgotten.
void WakeWaiting(Turn& turn, KeyState& state) {
  while (!state.waiting.empty()) {
    const auto first = state.waiting.begin();
    if (Wake(turn, first->second)) return;
    turn.state.waits_for_key.erase(first->second);
    state.waiting.erase(first);
  }
}

// Whoever stands in this line keeps its place; in another's it makes way for those behind it.
void StandInLine(Turn& turn, const TaskPlace& waiter, const std::string& key) {
  State& state = turn.state;
  const auto waits = state.waits_for_key.find(waiter);
  if (waits != state.waits_for_key.end() && waits->second.first == key) return;
  StopWaiting(turn, waiter);
  state.waits_for_key[waiter] = {key, state.next_waiter};
  state.keys_held[key].waiting.emplace(state.next_waiter++, waiter);
}

}  // namespace

bool TakeKeys(Turn& turn, const OpenRun& run, const TaskKey& holder,
              const std::vector<WantedKey>& keys, const TaskPlace& waiter) {
  State& state = turn.state;
  std::vector<std::string> wanted;
  for (const auto& [key, max] : keys) {
    if (HeldAbove(state, run, key)) continue;
    KeyState& held = state.keys_held[key];
    if (held.holders.size() >= max) {
      StandInLine(turn, waiter, key);
      return false;
    }
    if (std::ranges::find(wanted, key) == wanted.end()) wanted.push_back(key);
  }
  for (const auto& key : wanted) {
    state.keys_held[key].holders.insert(holder);
    turn.Put(PutHold{{key, holder}});
  }
  if (!wanted.empty()) std::ranges::move(wanted, std::back_inserter(state.holds[holder]));
  StopWaiting(turn, waiter);
  return true;
}

void StopWaiting(Turn& turn, const TaskPlace& waiter) {
  State& state = turn.state;
  const auto waits = state.waits_for_key.find(waiter);
  if (waits == state.waits_for_key.end()) return;
  const auto [key, place] = waits->second;
  state.waits_for_key.erase(waits);
  const auto held = state.keys_held.find(key);
  if (held == state.keys_held.end()) return;
  held->second.waiting.erase(place);
  WakeWaiting(turn, held->second);
  if (held->second.holders.empty() && held->second.waiting.empty()) state.keys_held.erase(held);
}

void StopWaitingOf(Turn& turn, RunId run) {
  while (true) {
    const auto next = turn.state.waits_for_key.lower_bound({run, {}, 0});
    if (next == turn.state.waits_for_key.end() || next->first.run != run) return;
    StopWaiting(turn, TaskPlace(next->first));
  }
}

void ReleaseKeys(Turn& turn, const TaskKey& holder) {
  State& state = turn.state;
  const auto found = state.holds.find(holder);
  if (found == state.holds.end()) return;
  const auto keys = std::move(found->second);
  state.holds.erase(found);
  for (const auto& key : keys) {
    const auto held = state.keys_held.find(key);
    if (held == state.keys_held.end()) continue;
    held->second.holders.erase(holder);
    turn.Put(DropHold{{key, holder}});
    WakeWaiting(turn, held->second);
    if (held->second.holders.empty() && held->second.waiting.empty()) state.keys_held.erase(held);
  }
}

void KeepLost(Turn& turn, const TaskKey& holder, const LostBound& bound) {
  if (!turn.state.holds.contains(holder)) return;
  if (bound.surely_over <= Duration::zero()) return ReleaseKeys(turn, holder);
  turn.state.lost_holders[holder.host][holder] = bound.doubted;
  if (bound.surely_over != Duration::max())
    turn.state.lost_over.emplace(turn.now.mono + bound.surely_over, holder);
}

void OnLostOver(Turn& turn, const TaskKey& holder) {
  const auto found = turn.state.lost_holders.find(holder.host);
  if (found == turn.state.lost_holders.end() || found->second.erase(holder) == 0) return;
  if (found->second.empty()) turn.state.lost_holders.erase(found);
  ReleaseKeys(turn, holder);
}

void SettleLost(Turn& turn, HostId host, const std::set<TaskKey>& listed) {
  const auto found = turn.state.lost_holders.find(host);
  if (found == turn.state.lost_holders.end()) return;
  const auto lost = found->second;  // the loop changes the original
  for (const auto& [holder, doubted] : lost)
    if (!doubted && !listed.contains(holder)) {
      found->second.erase(holder);
      ReleaseKeys(turn, holder);
    }
  if (found->second.empty()) turn.state.lost_holders.erase(found);
}

void DoubtLost(Turn& turn, HostId host) {
  const auto found = turn.state.lost_holders.find(host);
  if (found == turn.state.lost_holders.end()) return;
  for (auto& [holder, doubted] : found->second) doubted = true;
}

void FreeLost(Turn& turn, HostId host) {
  const auto found = turn.state.lost_holders.find(host);
  if (found == turn.state.lost_holders.end()) return;
  const auto lost = std::move(found->second);
  turn.state.lost_holders.erase(found);
  for (const auto& [holder, doubted] : lost) ReleaseKeys(turn, holder);
}

std::vector<KeyLimit> KeysBelow(const OpenRun& run) {
  std::vector<KeyLimit> keys = run.run.keys_above;
  // One whose keys cannot be made starts nothing.
  if (const auto own = RunKeysOf(run))
    for (const auto& [key, max] : *own) keys.push_back({.key = key, .max = max});
  return keys;
}

bool TakeRunKeys(Turn& turn, OpenRun& run) {
  if (run.run.spec.limits.empty()) return true;
  const auto keys = RunKeysOf(run);
  if (!keys) {
    run.run.outcome = StageState::kFailed;
    run.run.reason = keys.error().message;
    run.run.closing = true;
    return true;
  }
  return TakeKeys(turn, run, HolderOf(run.run.id), *keys, {run.run.id, {}, 0});
}

Result<> TakeKeysNow(Turn& turn, OpenRun& run) {
  const auto keys = RunKeysOf(run);
  if (!keys) return Fail(ErrorCode::kConflict, "{}", keys.error().message);
  const TaskPlace place{run.run.id, {}, 0};
  auto wanted = *keys;
  const bool outlived = std::ranges::none_of(
      run.run.above, [&](RunId above) { return turn.state.runs.contains(above); });
  if (outlived)  // they may have given theirs back
    for (const auto& [key, max] : run.run.keys_above) wanted.push_back({key, max});
  if (TakeKeys(turn, run, HolderOf(run.run.id), wanted, place)) return {};
  const std::string why = WhyNoKey(turn.state, place);
  StopWaitingOf(turn, run.run.id);  // it does not wait, and would hold up those behind it
  return Fail(ErrorCode::kConflict, "run {} gave its keys back, and now {}; try later",
              FormatRunId(run.run.id), why);
}

void GiveBackKeys(Turn& turn, const Run& ended) {
  const auto over = [&](RunId id) {
    return !turn.state.runs.contains(id) && !turn.state.below.contains(id);
  };
  turn.state.DropBelow(ended);
  if (over(ended.id)) ReleaseKeys(turn, HolderOf(ended.id));
  for (const RunId above : ended.above)
    if (over(above)) ReleaseKeys(turn, HolderOf(above));
}

void LoadHolds(State& state, const std::vector<KeyHold>& holds, const LostBounds& lost) {
  for (const auto& [key, task] : holds) {
    state.keys_held[key].holders.insert(task);
    state.holds[task].push_back(key);
    if (!task.visit) continue;
    const auto run = state.runs.find(task.run);
    const bool open = run != state.runs.end() && run->second.visits.contains(task.visit) &&
                      run->second.visits.at(task.visit).attempts.contains(task.ordinal);
    if (open) continue;
    const auto bound = lost.find(task);
    state.lost_holders[task.host][task] = bound != lost.end() && bound->second.doubted;
    const bool known = bound != lost.end() && bound->second.surely_over > Duration::zero();
    if (known && bound->second.surely_over != Duration::max())
      state.lost_over.emplace(state.loaded + bound->second.surely_over, task);
    if (!known) state.lost_over.emplace(state.loaded + kLostAfterLoad, task);
  }
}

std::string WhyNoKey(const State& state, const TaskPlace& waiter) {
  const auto waits = state.waits_for_key.find(waiter);
  if (waits == state.waits_for_key.end()) return {};
  const auto held = state.keys_held.find(waits->second.first);
  if (held == state.keys_held.end() || held->second.holders.empty()) return {};
  const TaskKey& first = *held->second.holders.begin();
  std::string text = fmt::format("limit '{}' is reached; {} holds it", waits->second.first,
                                 FormatRunId(first.run));
  const auto lost = state.lost_holders.find(first.host);
  const auto host = state.hosts.find(first.host);
  if (lost != state.lost_holders.end() && lost->second.contains(first) && host != state.hosts.end())
    text += fmt::format(
        ", as its task on {0} was lost and may still run; if the machine is gone, 'muster hosts rm "
        "{0}' frees it",
        host->second.host.name);
  return text;
}

}  // namespace muster::engine
