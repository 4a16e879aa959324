#include "engine/limiter/limiter.hpp"

#include <algorithm>
#include <iterator>

#include "base/text.hpp"
#include "engine/runs/dispatch.hpp"
#include "engine/runs/render.hpp"

namespace muster::engine {
namespace {

// Of rows that do not say it; most tasks have a timeout of an hour.
constexpr Duration kLostAfterLoad = std::chrono::hours(2);

// The run itself, or one above it, ended or not.
bool HeldAbove(const State& state, const OpenRun& run, const std::string& key) {
  const auto found = state.limiter.keys_held.find(key);
  if (found == state.limiter.keys_held.end()) return false;
  const auto holds = [&](RunId id) { return found->second.holders.contains(HolderOf(id)); };
  return holds(run.run.id) || std::ranges::any_of(run.run.above, holds);
}

// Whether the run or one above it holds keys.
bool IsUnderKeys(const State& state, const Run& run) {
  const auto holds = [&](RunId id) { return state.limiter.holds.contains(HolderOf(id)); };
  return holds(run.id) || std::ranges::any_of(run.above, holds);
}

// How many others hold the key. A run may go on beside its own lost attempts.
std::size_t CountFor(const KeyState& held, const TaskKey& holder) {
  return static_cast<std::size_t>(std::ranges::count_if(
      held.holders, [&](const TaskKey& other) { return holder.visit || other.run != holder.run; }));
}

void ForgetLost(State& state, const TaskKey& holder) {
  const auto in = state.limiter.lost_in.find(holder.run);
  if (in == state.limiter.lost_in.end()) return;
  in->second.erase(holder);
  if (in->second.empty()) state.limiter.lost_in.erase(in);
}

void RememberLost(State& state, const Run& run, const TaskKey& holder, const LostBound& bound,
                  MonoTime since) {
  state.limiter.lost_holders[holder.host][holder] = bound.doubted;
  if (bound.surely_over != Duration::max())
    state.limiter.lost_over.emplace(since + bound.surely_over, holder);
  if (IsUnderKeys(state, run)) state.limiter.lost_in[run.id].insert(holder);
}

// The keys of the run are about to be given back: its lost attempt holds them, too.
void HandOn(Turn& turn, RunId run, const TaskKey& lost) {
  const auto found = turn.state.limiter.holds.find(HolderOf(run));
  if (found == turn.state.limiter.holds.end()) return;
  const auto keys = found->second;  // what follows changes the map
  for (const auto& key : keys) {
    if (!turn.state.limiter.keys_held[key].holders.insert(lost).second) continue;
    turn.state.limiter.holds[lost].push_back(key);
    turn.Put(PutHold{{key, lost}});
  }
}

void HandOnAll(Turn& turn, RunId run, const std::set<TaskKey>& lost) {
  for (const TaskKey& holder : lost) HandOn(turn, run, holder);
}

// Of several attempts of a task, earlier ones may be lost.
bool IsOut(const OpenRun& run, const TaskKey& task) {
  const auto visit = run.visits.find(task.visit);
  if (visit == run.visits.end()) return false;
  const auto attempt = visit->second.attempts.find(task.ordinal);
  return attempt != visit->second.attempts.end() && attempt->second.key == task;
}

bool StandsStill(const OpenRun& run) { return run.run.pause && run.OpenTasks() == 0; }

void GiveBackIfStill(Turn& turn, RunId id) {
  State& state = turn.state;
  const auto run = state.runs.open.find(id);
  if (run == state.runs.open.end() || !state.limiter.holds.contains(HolderOf(id))) return;
  if (!StandsStill(run->second) || !run->second.run.pause->release) return;
  const auto found = state.runs.below.find(id);
  std::set<RunId> tree = found == state.runs.below.end() ? std::set<RunId>() : found->second;
  if (!std::ranges::all_of(tree,
                           [&](RunId below) { return StandsStill(state.runs.open.at(below)); }))
    return;
  tree.insert(id);
  for (const RunId of : tree)
    if (const auto lost = state.limiter.lost_in.find(of); lost != state.limiter.lost_in.end())
      HandOnAll(turn, id, lost->second);
  ReleaseKeys(turn, HolderOf(id));
}

// Lets it ask anew; false when it is gone.
bool Wake(Turn& turn, const TaskPlace& waiter) {
  const auto run = turn.state.runs.open.find(waiter.run);
  if (run == turn.state.runs.open.end()) return false;
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
    turn.state.limiter.waits_for_key.erase(first->second);
    state.waiting.erase(first);
  }
}

// Whoever stands in this line keeps its place; in another's it makes way for those behind it.
void StandInLine(Turn& turn, const TaskPlace& waiter, const std::string& key) {
  State& state = turn.state;
  const auto waits = state.limiter.waits_for_key.find(waiter);
  if (waits != state.limiter.waits_for_key.end() && waits->second.first == key) return;
  StopWaiting(turn, waiter);
  state.limiter.waits_for_key[waiter] = {key, state.limiter.next_waiter};
  state.limiter.keys_held[key].waiting.emplace(state.limiter.next_waiter++, waiter);
}

void OnLostOver(Turn& turn, const TaskKey& holder) {
  const auto found = turn.state.limiter.lost_holders.find(holder.host);
  if (found == turn.state.limiter.lost_holders.end() || found->second.erase(holder) == 0) return;
  if (found->second.empty()) turn.state.limiter.lost_holders.erase(found);
  ForgetLost(turn.state, holder);
  ReleaseKeys(turn, holder);
}

void LoadHolds(State& state, const std::vector<KeyHold>& holds, const LostBounds& lost) {
  for (const auto& [key, task] : holds) {
    state.limiter.keys_held[key].holders.insert(task);
    state.limiter.holds[task].push_back(key);
    if (!task.visit) continue;
    const auto run = state.runs.open.find(task.run);
    const bool open = run != state.runs.open.end() && IsOut(run->second, task);
    if (open) continue;
    const auto bound = lost.find(task);
    state.limiter.lost_holders[task.host][task] = bound != lost.end() && bound->second.doubted;
    const bool known = bound != lost.end() && bound->second.surely_over > Duration::zero();
    if (known && bound->second.surely_over != Duration::max())
      state.limiter.lost_over.emplace(state.loaded + bound->second.surely_over, task);
    if (!known) state.limiter.lost_over.emplace(state.loaded + kLostAfterLoad, task);
  }
}

// Once the holds are loaded: lost attempts of open runs that are under the keys of their run or of
// one above it.
void LoadLost(State& state, const LostBounds& lost) {
  for (const auto& [task, bound] : lost) {
    const auto run = state.runs.open.find(task.run);
    if (run == state.runs.open.end() || bound.surely_over <= Duration::zero()) continue;
    if (IsUnderKeys(state, run->second.run))
      RememberLost(state, run->second.run, task, bound, state.loaded);
  }
}

}  // namespace

Result<> CheckKeys(const std::vector<WantedKey>& keys) {
  std::size_t bytes = 0;
  for (const auto& [key, max] : keys) {
    if (key.size() > kMostKeyBytes)
      return Fail(ErrorCode::kInvalid, "limit: a key is {} long, and may be {}",
                  FormatSize(key.size()), FormatSize(kMostKeyBytes));
    bytes += key.size();
  }
  if (bytes > kMostKeysBytes)
    return Fail(
        ErrorCode::kInvalid,
        "limit: all keys together, those of runs above included, are {} long, and may be {}",
        FormatSize(bytes), FormatSize(kMostKeysBytes));
  return {};
}

Result<std::vector<WantedKey>> RunKeysOf(const OpenRun& run) {
  std::vector<WantedKey> keys;
  // Those above it have them, or may have given them back.
  for (const auto& [key, max] : run.run.keys_above) keys.push_back({key, max});
  for (const auto& limit : run.run.spec.limits) {
    auto key = RenderText(run, limit.key);
    if (!key) return Fail(ErrorCode::kInvalid, "limit: {}", key.error().message);
    keys.push_back({std::move(*key), limit.max});
  }
  if (auto fits = CheckKeys(keys); !fits) return Fail(fits.error());
  return keys;
}

bool TakeKeys(Turn& turn, const OpenRun& run, const TaskKey& holder,
              const std::vector<WantedKey>& keys, const TaskPlace& waiter) {
  State& state = turn.state;
  std::vector<std::string> wanted;
  for (const auto& [key, max] : keys) {
    if (HeldAbove(state, run, key)) continue;
    KeyState& held = state.limiter.keys_held[key];
    if (CountFor(held, holder) >= max) {
      StandInLine(turn, waiter, key);
      return false;
    }
    if (std::ranges::find(wanted, key) == wanted.end()) wanted.push_back(key);
  }
  for (const auto& key : wanted) {
    state.limiter.keys_held[key].holders.insert(holder);
    turn.Put(PutHold{{key, holder}});
  }
  if (!wanted.empty()) std::ranges::move(wanted, std::back_inserter(state.limiter.holds[holder]));
  StopWaiting(turn, waiter);
  return true;
}

void StopWaiting(Turn& turn, const TaskPlace& waiter) {
  State& state = turn.state;
  const auto waits = state.limiter.waits_for_key.find(waiter);
  if (waits == state.limiter.waits_for_key.end()) return;
  const auto [key, place] = waits->second;
  state.limiter.waits_for_key.erase(waits);
  const auto held = state.limiter.keys_held.find(key);
  if (held == state.limiter.keys_held.end()) return;
  held->second.waiting.erase(place);
  WakeWaiting(turn, held->second);
  if (held->second.holders.empty() && held->second.waiting.empty())
    state.limiter.keys_held.erase(held);
}

void StopWaitingOf(Turn& turn, RunId run) {
  while (true) {
    const auto next = turn.state.limiter.waits_for_key.lower_bound({run, {}, 0});
    if (next == turn.state.limiter.waits_for_key.end() || next->first.run != run) return;
    StopWaiting(turn, TaskPlace(next->first));
  }
}

void ReleaseKeys(Turn& turn, const TaskKey& holder) {
  State& state = turn.state;
  const auto found = state.limiter.holds.find(holder);
  if (found == state.limiter.holds.end()) return;
  const auto keys = std::move(found->second);
  state.limiter.holds.erase(found);
  for (const auto& key : keys) {
    const auto held = state.limiter.keys_held.find(key);
    if (held == state.limiter.keys_held.end()) continue;
    held->second.holders.erase(holder);
    turn.Put(DropHold{{key, holder}});
    WakeWaiting(turn, held->second);
    if (held->second.holders.empty() && held->second.waiting.empty())
      state.limiter.keys_held.erase(held);
  }
}

void KeepLost(Turn& turn, const OpenRun& run, const TaskKey& holder, const LostBound& bound) {
  if (!turn.state.limiter.holds.contains(holder) && !IsUnderKeys(turn.state, run.run)) return;
  if (bound.surely_over <= Duration::zero()) return ReleaseKeys(turn, holder);
  RememberLost(turn.state, run.run, holder, bound, turn.now.mono);
}

void FireLost(Turn& turn) {
  auto& lost = turn.state.limiter.lost_over;
  while (!lost.empty() && lost.begin()->first <= turn.now.mono && !turn.Spent()) {
    const TaskKey holder = lost.begin()->second;
    lost.erase(lost.begin());
    turn.Spend();
    OnLostOver(turn, holder);
  }
}

void SettleLost(Turn& turn, HostId host, const std::set<TaskKey>& listed) {
  const auto found = turn.state.limiter.lost_holders.find(host);
  if (found == turn.state.limiter.lost_holders.end()) return;
  const auto lost = found->second;  // the loop changes the original
  for (const auto& [holder, doubted] : lost)
    if (!doubted && !listed.contains(holder)) {
      found->second.erase(holder);
      ForgetLost(turn.state, holder);
      ReleaseKeys(turn, holder);
    }
  if (found->second.empty()) turn.state.limiter.lost_holders.erase(found);
}

void DoubtLost(Turn& turn, HostId host) {
  const auto found = turn.state.limiter.lost_holders.find(host);
  if (found == turn.state.limiter.lost_holders.end()) return;
  for (auto& [holder, doubted] : found->second) doubted = true;
}

void FreeLost(Turn& turn, HostId host) {
  const auto found = turn.state.limiter.lost_holders.find(host);
  if (found == turn.state.limiter.lost_holders.end()) return;
  const auto lost = std::move(found->second);
  turn.state.limiter.lost_holders.erase(found);
  for (const auto& [holder, doubted] : lost) {
    ForgetLost(turn.state, holder);
    ReleaseKeys(turn, holder);
  }
}

void OnLostEnded(Turn& turn, const TaskKey& holder) {
  const auto found = turn.state.limiter.lost_holders.find(holder.host);
  if (found == turn.state.limiter.lost_holders.end()) return;
  const auto lost = found->second.find(holder);
  if (lost != found->second.end() && !lost->second) OnLostOver(turn, holder);
}

std::vector<KeyLimit> KeysBelow(const OpenRun& run) {
  std::vector<KeyLimit> keys;
  // One whose keys cannot be made starts nothing.
  if (const auto own = RunKeysOf(run))
    for (const auto& [key, max] : *own) keys.push_back({.key = key, .max = max});
  return keys;
}

bool TakeRunKeys(Turn& turn, OpenRun& run) {
  if (run.run.spec.limits.empty() && run.run.keys_above.empty()) return true;
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
  if (TakeKeys(turn, run, HolderOf(run.run.id), *keys, place)) return {};
  const std::string why = WhyNoKey(turn.state, place);
  StopWaitingOf(turn, run.run.id);  // it does not wait, and would hold up those behind it
  return Fail(ErrorCode::kConflict, "run {} gave its keys back, and now {}; try later",
              FormatRunId(run.run.id), why);
}

void GiveBackKeys(Turn& turn, const Run& ended) {
  const auto over = [&](RunId id) {
    return !turn.state.runs.open.contains(id) && !turn.state.runs.below.contains(id);
  };
  if (const auto lost = turn.state.limiter.lost_in.extract(ended.id)) {
    HandOnAll(turn, ended.id, lost.mapped());
    for (const RunId above : ended.above) HandOnAll(turn, above, lost.mapped());
  }
  turn.state.runs.DropBelow(ended);
  if (over(ended.id)) ReleaseKeys(turn, HolderOf(ended.id));
  for (const RunId above : ended.above)
    if (over(above)) ReleaseKeys(turn, HolderOf(above));
  GiveBackPaused(turn, ended);
}

void GiveBackPaused(Turn& turn, const Run& run) {
  for (const RunId above : run.above) GiveBackIfStill(turn, above);
  GiveBackIfStill(turn, run.id);
}

LostBounds BoundsOf(const Snapshot& snapshot) {
  LostBounds bounds;
  const auto add = [&](const TaskRecord& task) {
    if (task.state == TaskState::kLost) bounds[task.key] = {task.surely_over, task.doubted};
  };
  std::ranges::for_each(snapshot.lost, add);
  for (const auto& run : snapshot.runs) std::ranges::for_each(run.tasks, add);
  return bounds;
}

void LoadLimiter(State& state, Snapshot& snapshot, const LostBounds& lost) {
  LoadHolds(state, snapshot.holds, lost);
  LoadLost(state, lost);
  for (auto& freeze : snapshot.freezes) state.limiter.freezes[freeze.id] = std::move(freeze);
}

std::string WhyNoKey(const State& state, const TaskPlace& waiter) {
  const auto waits = state.limiter.waits_for_key.find(waiter);
  if (waits == state.limiter.waits_for_key.end()) return {};
  const auto held = state.limiter.keys_held.find(waits->second.first);
  if (held == state.limiter.keys_held.end() || held->second.holders.empty()) return {};
  const TaskKey& first = *held->second.holders.begin();
  std::string text = fmt::format("limit '{}' is reached; {} holds it", waits->second.first,
                                 FormatRunId(first.run));
  const auto lost = state.limiter.lost_holders.find(first.host);
  const auto host = state.hosts.entries.find(first.host);
  if (lost != state.limiter.lost_holders.end() && lost->second.contains(first) &&
      host != state.hosts.entries.end())
    text += fmt::format(
        ", as its task on {0} was lost and may still run; if the machine is gone, 'muster hosts rm "
        "{0}' frees it",
        host->second.host.name);
  return text;
}

}  // namespace muster::engine
