#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "domain/freeze.hpp"
#include "domain/records.hpp"
#include "engine/runs/task_place.hpp"

// What the limiter holds.
namespace muster::engine {

// Who holds a key of the limiter, and who waits for it, in the order they came.
struct KeyState {
  std::set<TaskKey> holders;
  std::map<std::uint64_t, TaskPlace> waiting;
};

struct LimiterMemory {
  std::map<std::string, KeyState, std::less<>> keys_held;
  std::unordered_map<TaskKey, std::vector<std::string>> holds;  // keys by holder
  // Lost ones that may still run there; whether no Hello can tell that they do not.
  std::unordered_map<HostId, std::map<TaskKey, bool>> lost_holders;
  std::multimap<MonoTime, TaskKey> lost_over;  // until when at most
  // Of those, by open run, the ones that are under the keys of a run.
  std::map<RunId, std::set<TaskKey>> lost_in;
  std::map<TaskPlace, std::pair<std::string, std::uint64_t>> waits_for_key;  // which, and its place
  std::uint64_t next_waiter = 1;

  std::map<std::uint64_t, Freeze> freezes;  // perhaps over by now
};

}  // namespace muster::engine
