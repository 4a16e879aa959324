#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "base/instant.hpp"
#include "engine/triggers/zones.hpp"

// Settings of the engine.
namespace muster::engine {

struct Options {
  Duration order_life = std::chrono::seconds(10);       // start_by lies so far ahead
  Duration reconnect_bound = std::chrono::seconds(60);  // a cut link is expected back within
  Duration takeover_grace =
      std::chrono::minutes(2);  // after a load, before any task deadline fires
  Duration heartbeat = std::chrono::seconds(10);
  std::size_t most_things = 1000;  // one decision touches at most about so many
  Duration keys_remembered = std::chrono::minutes(10);
  // Triggers. Without zones they all wait, and no run of theirs is planned.
  std::shared_ptr<const Zones> zones = {};          // shared by the engines of one program
  Duration missed_after = std::chrono::minutes(1);  // a slot so late was missed
  Duration ask_again = std::chrono::minutes(1);     // for a plan that does not come
  Duration clock_watch = std::chrono::seconds(10);  // a jump of the wall clock is seen within
  // No new run is started while the plans of open runs take more memory than this.
  std::size_t most_plan_bytes = 1ULL << 30;
};

}  // namespace muster::engine
