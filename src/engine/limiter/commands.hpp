#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "domain/freeze.hpp"
#include "engine/caller.hpp"
#include "engine/kinds.hpp"

// Commands about freezes, and their answers.
namespace muster::engine {

// How many of a run's hosts each freeze that is about hosts means, as looked up just before.
using FrozenHosts = std::map<std::uint64_t, std::uint32_t>;

struct FreezeAnswer {  // those that were made or thawed, as they are or were
  std::vector<Freeze> freezes;
};

// No run of some kind is started from now on; id, who and when are filled in.
struct FreezeRuns {
  using Answer = FreezeAnswer;

  Caller caller;
  Freeze freeze;
};

struct ThawRuns {
  using Answer = FreezeAnswer;

  Caller caller;
  std::uint64_t id = 0;  // 0 is every one
  std::string reason;
};

using LimiterCommands = Kinds<FreezeRuns, ThawRuns>;

}  // namespace muster::engine
