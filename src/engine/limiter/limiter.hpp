#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "engine/turn.hpp"

// How much at once: keys that tasks and runs hold while they work. All keys of a thing are taken
// at once, or none; what holds what is durable.
namespace muster::engine {

struct WantedKey {
  std::string key;
  std::uint32_t max = 1;
};

// Who holds a run's own keys.
inline TaskKey HolderOf(RunId run) { return {run, {}, 0, {}, {}}; }

// Takes the keys for `holder`. When one of them is taken by too many, none is, and `waiter` is
// woken when that one is given back. Keys that the run itself or a run above it holds are not
// counted again.
bool TakeKeys(Turn& turn, const OpenRun& run, const TaskKey& holder,
              const std::vector<WantedKey>& keys, const TaskPlace& waiter);

// A key is in the row of each holder, and those of a run are in the rows of all runs below it.
inline constexpr std::size_t kMostKeyBytes = 512;
inline constexpr std::size_t kMostKeysBytes = 16 << 10;  // of all keys that one holder takes
// kInvalid: a key, or all of them together, are longer than that.
Result<> CheckKeys(const std::vector<WantedKey>& keys);

// The keys that the run works under, with their values in them: those of the runs above it, and its
// own.
Result<std::vector<WantedKey>> RunKeysOf(const OpenRun& run);

// The keys of the run itself, before its first stage. A run whose key cannot be made is on its way
// to fail.
bool TakeRunKeys(Turn& turn, OpenRun& run);

// The waiter has ended, has what it wanted, or cannot go on for now: it asks anew when it can.
// Whoever waits behind it is woken.
void StopWaiting(Turn& turn, const TaskPlace& waiter);

// The same for a run and all its tasks.
void StopWaitingOf(Turn& turn, RunId run);

// The keys of a run that goes on or begins another pass: taken now, or not at all. kConflict says
// which run has them.
Result<> TakeKeysNow(Turn& turn, OpenRun& run);

// From the rows, once the runs are loaded: holds, lost attempts, freezes. `lost`: of lost attempts,
// what their rows say.
struct LostBound {
  Duration surely_over{};
  bool doubted = false;
};
using LostBounds = std::unordered_map<TaskKey, LostBound>;
void LoadLimiter(State& state, Snapshot& snapshot, const LostBounds& lost);

// How long lost attempts may still run, counted from now on: what an earlier leader counted is gone
// with it.
LostBounds BoundsOf(const Snapshot& snapshot);

// A run has ended, and is in RunMemory::open no more. It keeps its keys while runs below it are
// open; if it was the last below another that has ended, that one gives its keys back. Its lost
// attempts hold the keys that they were under themselves, as long as they may still run.
void GiveBackKeys(Turn& turn, const Run& ended);

// A run that is paused, and is to give its keys back meanwhile, does so when nothing of it or below
// it is out any more. Looks at the run and those above it.
void GiveBackPaused(Turn& turn, const Run& run);

// Gives back what it holds, and wakes who waits for it.
void ReleaseKeys(Turn& turn, const TaskKey& holder);

// The attempt of the run was lost: it may still run, so it keeps its keys until its host says
// otherwise, or until `bound` has passed: by then its own timeout has surely ended it.
void KeepLost(Turn& turn, const OpenRun& run, const TaskKey& holder, const LostBound& bound);

// Those whose time has come hold nothing any more, within the turn's budget.
void FireLost(Turn& turn);

// Its host said how it ended; of a doubted one another machine may run it.
void OnLostEnded(Turn& turn, const TaskKey& holder);

// The host said Hello with these tasks: lost ones it does not know hold nothing any more, but for
// doubted ones.
void SettleLost(Turn& turn, HostId host, const std::set<TaskKey>& listed);

// Another machine with the host's key may still run what was lost so far.
void DoubtLost(Turn& turn, HostId host);

// The host was removed, so an operator says that its machine is gone: lost tasks hold nothing.
void FreeLost(Turn& turn, HostId host);

// The keys that runs below `run` work under: its own and those above it.
std::vector<KeyLimit> KeysBelow(const OpenRun& run);

// For "why": the key a task waits for and who holds it; "" when it waits for none.
std::string WhyNoKey(const State& state, const TaskPlace& waiter);

}  // namespace muster::engine
